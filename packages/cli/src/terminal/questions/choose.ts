import type { View } from "../screen.ts";
import type { Prompter } from "./prompter.ts";

/** The terminal of a dialog. */
export interface Talk {
  readonly prompter: Prompter;
  readonly view: View;
}

/** Runs a dialog when no other one is open. Rejects with `Dismissed` if it was withdrawn or the user closed it. */
export type RunDialog = <T>(signal: AbortSignal, run: (prompter: Prompter, view: View) => Promise<T>) => Promise<T>;

/**
 * Asks until the typed text is one of the keys, or the word that the prompt shows for one: "y" or "yes" for `[y]es`. A "/"
 * before it is ignored. There is no default.
 *
 * Other texts that begin with a key do not count: a user who is writing a sentence when the question appears has not
 * answered it.
 */
export async function choose<T extends string | boolean>(
  prompt: string,
  keys: Readonly<Record<string, T>>,
  prompter: Prompter,
): Promise<T> {
  // The choices are at the end of a prompt. A text of a server before them cannot replace their words.
  const wordOf = new Map([...prompt.matchAll(/\[(\w)\](\w*)/g)].map(([, key = "", end = ""]) => [key, key + end]));
  const keyOf = new Map([...wordOf].map(([key, word]) => [word, key]));
  for (;;) {
    const input = (await prompter.ask(prompt)).trim().replace(/^\//, "").toLowerCase();
    const key = keyOf.get(input) ?? input;
    const choice = Object.hasOwn(keys, key) ? keys[key] : undefined;
    if (choice !== undefined) return choice;
  }
}
