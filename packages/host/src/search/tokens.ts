import type { ModelTool } from "../model/model-request.ts";

/** UTF-8 bytes per token. Definitions of tools have 4.7 with the vocabularies of OpenAI; other vocabularies have fewer. */
const BYTES_PER_TOKEN = 3.5;

/**
 * Returns an estimate of the number of tokens of a text, without a tokenizer.
 *
 * The estimate is a third above the real number for definitions of tools, so that a budget also holds for other vocabularies.
 *
 * @example
 * ```ts
 * const tokens = estimateTokens("Creates an issue in a repository."); // 10
 * ```
 */
export function estimateTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}

/**
 * Returns an estimate of the number of tokens that the definitions of tools add to a prompt.
 *
 * @example
 * ```ts
 * const isLarge = estimateToolTokens(host.catalogue.tools) > 10_000;
 * ```
 */
export function estimateToolTokens(tools: readonly ModelTool[]): number {
  return tools.reduce((sum, { name, description, inputSchema }) => {
    return sum + estimateTokens(JSON.stringify({ name, description, inputSchema }));
  }, 0);
}
