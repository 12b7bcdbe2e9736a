import type { TotalUsage } from "@mcparley/host";

// The prices of a million tokens, which the provider of the model publishes.
const { INPUT_PRICE = "0", CACHE_PRICE = INPUT_PRICE, OUTPUT_PRICE = "0" } = process.env;

/** Returns the tokens and the cost of a run, with those of the sampling requests of each server. */
export function costText({ origins }: TotalUsage): string {
  const lines = origins.map(({ server = "answers", inputTokens, outputTokens, cacheReadTokens = 0 }) => {
    const input = (inputTokens - cacheReadTokens) * Number(INPUT_PRICE) + cacheReadTokens * Number(CACHE_PRICE);
    const cost = (input + outputTokens * Number(OUTPUT_PRICE)) / 1_000_000;
    return `${server}: ${inputTokens} tokens in, ${outputTokens} out, cost ${cost.toFixed(4)}`;
  });
  return lines.join("\n");
}
