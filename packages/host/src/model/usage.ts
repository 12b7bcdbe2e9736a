import { isObject } from "@mcparley/internal/is-object";
import type { Message } from "../conversation/messages.ts";
import type { ModelRequest } from "./model-request.ts";
import type { OriginUsage, TotalUsage, Usage } from "../values/usage.ts";
import { estimateTokens } from "./tokens.ts";

const noTokens: Usage = { inputTokens: 0, outputTokens: 0 };

/** The members of a usage that not every provider reports. */
const detailNames = ["cacheReadTokens", "cacheWriteTokens", "reasoningTokens"] as const;

/**
 * Returns the usage that a provider reports. Versions 3 and 4 of the specification have objects of numbers, and version 2 has numbers.
 * A number that is not reported is 0, or is left out if it is a part of another one.
 */
export function readUsage(value: unknown): Usage {
  const { inputTokens, outputTokens, cachedInputTokens, reasoningTokens } = isObject(value) ? value : {};
  const input = isObject(inputTokens) ? inputTokens : { total: inputTokens, cacheRead: cachedInputTokens };
  const output = isObject(outputTokens) ? outputTokens : { total: outputTokens, reasoning: reasoningTokens };
  const [cacheRead, cacheWrite, reasoning] = [input.cacheRead, input.cacheWrite, output.reasoning].map(count);
  return withDetails({
    inputTokens: count(input.total) ?? sum(input.noCache, input.cacheRead, input.cacheWrite),
    outputTokens: count(output.total) ?? sum(output.text, output.reasoning),
    cacheReadTokens: cacheRead,
    cacheWriteTokens: cacheWrite,
    reasoningTokens: reasoning,
  });
}

/** Returns a number of tokens above 0. Undefined for other values. */
function count(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : undefined;
}

function sum(...values: readonly unknown[]): number {
  return values.reduce<number>((total, value) => total + (count(value) ?? 0), 0);
}

/** Returns a usage without the members that are undefined. */
function withDetails(usage: { [Name in keyof Usage]: Usage[Name] | undefined }): Usage {
  const { inputTokens = 0, outputTokens = 0, isEstimated } = usage;
  const details = detailNames.flatMap((name) => (usage[name] === undefined ? [] : [[name, usage[name]] as const]));
  return { inputTokens, outputTokens, ...Object.fromEntries(details), ...(isEstimated && { isEstimated }) };
}

function addUsage(first: Usage, second: Usage): Usage {
  const details = detailNames.map((name) => [name, count(sum(first[name], second[name]))] as const);
  return withDetails({
    ...Object.fromEntries(details),
    inputTokens: first.inputTokens + second.inputTokens,
    outputTokens: first.outputTokens + second.outputTokens,
    isEstimated: first.isEstimated || second.isEstimated || undefined,
  });
}

/** The usage of several requests, in total and by their origins. */
export class UsageCounter {
  readonly #origins = new Map<string, OriginUsage>();

  add({ server, model, ...usage }: OriginUsage): void {
    const key = JSON.stringify([server, model]);
    const sumOfOrigin = addUsage(this.#origins.get(key) ?? noTokens, usage);
    this.#origins.set(key, { ...(server !== undefined && { server }), model, ...sumOfOrigin });
  }

  get total(): TotalUsage {
    const origins = [...this.#origins.values()];
    return { ...origins.reduce<Usage>(addUsage, noTokens), origins };
  }
}

/** Returns the usage of a request and its answer, or of the start of one. If the provider reports none, it is estimated from their size. */
export function usageOf(
  request: ModelRequest,
  parts: readonly { readonly type: string; readonly text?: string; readonly input?: string }[],
  reportedUsage: Usage | undefined,
): Usage {
  if (reportedUsage && (reportedUsage.inputTokens > 0 || reportedUsage.outputTokens > 0)) return reportedUsage;
  const tools = estimateTokens(JSON.stringify(request.tools ?? []));
  const output = parts.map(({ input, text }) => input ?? text ?? "");
  return {
    inputTokens: estimateMessages(request.messages) + tools,
    outputTokens: estimateTokens(output.join("")),
    isEstimated: true,
  };
}

/** Tokens of a file whose size in tokens is unknown. */
const TOKENS_PER_FILE = 1000;

/** Estimates the tokens of messages. A file counts as 1,000 tokens. */
function estimateMessages(messages: readonly Message[]): number {
  let files = 0;
  const json = JSON.stringify(messages, (_key, value: unknown) => {
    if (!isFile(value)) return value;
    files += 1;
    return value.mediaType;
  });
  return estimateTokens(json) + files * TOKENS_PER_FILE;
}

function isFile(value: unknown): value is { type: "file"; mediaType: string } {
  return isObject(value) && value.type === "file" && "data" in value;
}
