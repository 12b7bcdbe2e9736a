import type { Prompt } from "mcparley";
import type { Given } from "./arguments.ts";
import { didYouMean } from "../did-you-mean.ts";
import { UsageError } from "./io.ts";

/**
 * Makes the arguments of a prompt, which are all text, from what was typed.
 *
 * Throws `UsageError` for what is not text, comes twice, is not known to the prompt, or is required and missing.
 */
export function promptArguments(prompt: Prompt, given: readonly Given[]): Record<string, string> {
  const known = prompt.arguments ?? [];
  const values = textArguments(given);
  for (const key of values.keys()) requireKnown(prompt, key);
  const missing = known.filter(({ name, required }) => required && !values.has(name)).map(({ name }) => name);
  if (missing.length > 0) {
    throw new UsageError(
      `The prompt "${prompt.name}" needs ${missing.join(", ")}.`,
      `Add ${missing.map((name) => `${name}=TEXT`).join(" ")}`,
    );
  }
  return Object.fromEntries(values);
}

/** The typed arguments by key, each a text and given once. */
export function textArguments(given: readonly Given[]): Map<string, string> {
  const values = new Map<string, string>();
  for (const { key, value } of given) {
    if (values.has(key)) throw new UsageError(`${key} is given twice, and takes one value.`);
    if (typeof value !== "string") {
      throw new UsageError(
        `${key} must be text: the arguments of a prompt are.`,
        `Write ${key}=${JSON.stringify(value)}`,
      );
    }
    values.set(key, value);
  }
  return values;
}

function requireKnown(prompt: Prompt, key: string): void {
  const names = (prompt.arguments ?? []).map(({ name }) => name);
  if (names.includes(key)) return;
  throw new UsageError(`The prompt "${prompt.name}" has no argument ${JSON.stringify(key)}.`, didYouMean(key, names));
}
