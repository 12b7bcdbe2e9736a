import { UsageError } from "../io.ts";

/** Throws `UsageError` where words are left over. */
export function requireNoMore(words: readonly string[], what: string): void {
  if (words.length === 0) return;
  throw new UsageError(`${what}; ${words.map((word) => JSON.stringify(word)).join(" ")} is too much.`);
}

/** The word, or a `UsageError` that says what is missing. */
export function requireWord(word: string | undefined, question: string, hint: string): string {
  if (word !== undefined && word !== "") return word;
  throw new UsageError(question, hint);
}
