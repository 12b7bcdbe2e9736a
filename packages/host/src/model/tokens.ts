import type { ModelTool } from "./model-request.ts";

/** Characters per token of a run of letters, and of a run of digits or of other ASCII characters. */
const LETTERS = 7;
const OTHERS = 3;

/** Kinds of characters. White space belongs to no token, and a character outside of ASCII is one token. */
type Kind = "space" | "letter" | "digit" | "symbol" | "wide";

function kindOf(unit: number): Kind {
  if (unit >= 0x80) return "wide";
  if (unit === 0x20 || (unit >= 0x09 && unit <= 0x0d)) return "space";
  if (unit >= 0x30 && unit <= 0x39) return "digit";
  const lower = unit | 0x20;
  return lower >= 0x61 && lower <= 0x7a ? "letter" : "symbol";
}

/**
 * Returns an estimate of the number of tokens of a text, without a tokenizer.
 *
 * The estimate is usually higher than the real number, so that a budget also holds for the vocabularies of other models.
 * The data of a file in base64 is not text for a model: count a file separately.
 *
 * @example
 * ```ts
 * import { type Host, estimateTokens } from "@mcparley/host";
 *
 * export function toolTokens({ catalogue }: Host): string {
 *   const tools = catalogue.tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
 *   return `tools: about ${estimateTokens(JSON.stringify(tools))} tokens`;
 * }
 * ```
 */
export function estimateTokens(text: string): number {
  let tokens = 0;
  let index = 0;
  while (index < text.length) {
    const kind = kindOf(text.charCodeAt(index));
    const start = index++;
    if (kind === "wide") {
      if (text.codePointAt(start)! > 0xffff) index++;
      tokens++;
      continue;
    }
    // A run of one kind, character by character: a pattern would create a string for each run.
    while (index < text.length && kindOf(text.charCodeAt(index)) === kind) index++;
    if (kind !== "space") tokens += Math.ceil((index - start) / (kind === "letter" ? LETTERS : OTHERS));
  }
  return tokens;
}

/**
 * Returns an estimate of the number of tokens that the definitions of tools add to a prompt.
 */
export function estimateToolTokens(tools: readonly ModelTool[]): number {
  return tools.reduce((sum, { name, description, inputSchema }) => {
    return sum + estimateTokens(JSON.stringify({ name, description, inputSchema }));
  }, 0);
}
