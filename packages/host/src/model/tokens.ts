import type { ModelTool } from "./model-request.ts";

/** Runs of letters, of digits, of other ASCII characters, and single characters outside of ASCII. */
const PARTS = /[A-Za-z]+|\d+|[^\sA-Za-z\d\u0080-\u{10FFFF}]+|[\u0080-\u{10FFFF}]/gu;

/** Characters per token of each kind of run. */
const LETTERS = 7;
const DIGITS = 3;
const SYMBOLS = 3;

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
  for (const [part] of text.matchAll(PARTS)) {
    const first = part.charCodeAt(0);
    if (first >= 0x80) tokens += 1;
    else if (/[A-Za-z]/.test(part)) tokens += Math.ceil(part.length / LETTERS);
    else tokens += Math.ceil(part.length / (/\d/.test(part) ? DIGITS : SYMBOLS));
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
