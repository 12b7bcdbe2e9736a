import { didYouMean } from "../../terminal/did-you-mean.ts";
import { UsageError } from "../../terminal/io.ts";
import type { Menu, MenuEntry } from "../../terminal/questions/prompter.ts";
import type { Chat } from "../session/chat.ts";

/** A command of a chat, which is typed as `/name`. */
export interface ChatCommand {
  /** The words after the name. Undefined if it has none. */
  readonly usage?: string;
  /** What it does, in a few words. */
  readonly summary: string;
  /** Runs the command. Throws `UsageError` for words that it does not accept. */
  run(this: void, words: string, chat: Chat): void | Promise<void>;
  /** Returns the menu for the words before the cursor. */
  suggest?(this: void, words: string, chat: Chat, signal: AbortSignal): Menu | undefined | Promise<Menu | undefined>;
}

/**
 * Splits the words after a command. Single and double quotes enclose a word with spaces. JSON that starts with `{` is one word.
 *
 * Throws `UsageError` for a quote without its end.
 */
export function splitWords(text: string): string[] {
  const words: string[] = [];
  let remainder = text.trim();
  while (remainder !== "") {
    if (remainder.startsWith("{")) return [...words, remainder];
    const match = /^((?:[^\s"']+|"(?:[^"\\]|\\.)*"|'[^']*')+)\s*/s.exec(remainder);
    if (!match)
      throw new UsageError(
        `The quote before ${JSON.stringify(remainder.slice(0, 20))} has no end.`,
        "Add the closing quote.",
      );
    words.push(removeQuotes(match[1] ?? ""));
    remainder = remainder.slice(match[0].length);
  }
  return words;
}

function removeQuotes(word: string): string {
  return word.replaceAll(
    /"((?:[^"\\]|\\.)*)"|'([^']*)'/gs,
    (_whole, double: string | undefined, single: string | undefined) =>
      double === undefined ? (single ?? "") : double.replaceAll(/\\(["\\])/g, "$1"),
  );
}

/** Returns the menu for the last of several words. */
export function wordMenu(words: string, entries: readonly MenuEntry[]): Menu {
  const query = /\S*$/.exec(words)?.[0] ?? "";
  return { entries: matching(entries, query), replaces: query.length, isPreselected: false };
}

/** Returns the entry with a key. Throws `UsageError` with the most similar key. */
export function requireNamed<T>(what: string, name: string, values: ReadonlyMap<string, T>): T {
  const value = values.get(name);
  if (value !== undefined) return value;
  throw new UsageError(`There is no ${what} ${JSON.stringify(name)}.`, didYouMean(name, [...values.keys()]));
}

/** Maximum entries of a menu. */
const mostEntries = 200;

/** Returns the entries that contain the typed text: the one that is equal to it first, and then those that start with it. */
export function matching(entries: readonly MenuEntry[], query: string): MenuEntry[] {
  const part = query.toLowerCase();
  const rankedEntries = entries.flatMap((entry) => {
    const name = (entry.label ?? entry.value).replace(/^[/@]/, "").toLowerCase();
    // Enter chooses the first entry, and must submit a name that is typed in full.
    if (name === part) return [{ entry, rank: 0 }];
    if (name.startsWith(part)) return [{ entry, rank: 1 }];
    if (name.includes(part)) return [{ entry, rank: 2 }];
    return entry.detail?.toLowerCase().includes(part) ? [{ entry, rank: 3 }] : [];
  });
  return rankedEntries
    .toSorted((a, b) => a.rank - b.rank)
    .slice(0, mostEntries)
    .map(({ entry }) => entry);
}
