import type { Message } from "../conversation/messages.ts";
import { estimateTokens } from "../model/tokens.ts";

/** Tokens of a file whose size in tokens is unknown. */
const TOKENS_PER_FILE = 1000;

/** Estimates the tokens of messages. A file counts as 1,000 tokens. */
export function estimateMessages(messages: readonly Message[]): number {
  let files = 0;
  const json = JSON.stringify(messages, (_key, value: unknown) => {
    if (!isFile(value)) return value;
    files += 1;
    return value.mediaType;
  });
  return estimateTokens(json) + files * TOKENS_PER_FILE;
}

function isFile(value: unknown): value is { type: "file"; mediaType: string } {
  return typeof value === "object" && value !== null && "type" in value && value.type === "file" && "data" in value;
}
