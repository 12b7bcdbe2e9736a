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
 * Splits the words after a command. Single and double quotes enclose a word with spaces. JSON is one word and keeps its quotes: an object,
 * and an object, an array or a text after `=` or `:=`.
 *
 * Throws `UsageError` for a quote without its end.
 */
export function splitWords(text: string): string[] {
  const words: string[] = [];
  let remainder = text.trim();
  while (remainder !== "") {
    const json = jsonWord(remainder);
    const length = json?.length ?? /^(?:[^\s"']+|"(?:[^"\\]|\\.)*"|'[^']*')+/s.exec(remainder)?.[0].length;
    if (length === undefined)
      throw new UsageError(
        `The quote before ${JSON.stringify(remainder.slice(0, 20))} has no end.`,
        "Add the closing quote.",
      );
    words.push(json ?? removeQuotes(remainder.slice(0, length)));
    remainder = remainder.slice(length).trimStart();
  }
  return words;
}

/** Returns the word at the start of a text if it is JSON, or JSON after the name of an argument. */
function jsonWord(text: string): string | undefined {
  const [prefix] = /^(?:[^\s"'={[]+(?::=(?=[{["])|=(?=[{[])))?/.exec(text) ?? [""];
  const value = text.slice(prefix.length);
  if (prefix === "" && !value.startsWith("{")) return undefined;
  const length = jsonLength(value);
  if (length !== undefined && /^(?:\s|$)/.test(value.slice(length))) return prefix + value.slice(0, length);
  // JSON that is not complete is reported by its parser.
  return prefix === "" ? text : undefined;
}

/** Returns the length of the JSON object, array or text at the start of a text. Undefined if it has no end. */
function jsonLength(text: string): number | undefined {
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]]/gs)) {
    if (token === "{" || token === "[") depth += 1;
    else if (token === "}" || token === "]") depth -= 1;
    if (depth <= 0) return index + token.length;
  }
  return undefined;
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
  return { ...nameMenu(entries, query, query.length), isPreselected: false };
}

/** Returns the entry with a key. Throws `UsageError` with the most similar key. */
export function requireNamed<T>(what: string, name: string, values: ReadonlyMap<string, T>): T {
  const value = values.get(name);
  if (value !== undefined) return value;
  throw new UsageError(`There is no ${what} ${JSON.stringify(name)}.`, didYouMean(name, [...values.keys()]));
}

/** Maximum entries of a menu. */
const mostEntries = 200;

/** The ranks of matches: an equal name, the start of the name, the start of a word in it, another part of it, and the description. */
const ranks = { equal: 0, start: 1, word: 2, part: 3, description: 4 } as const;

/**
 * Returns the menu of the entries that contain the typed text, the best match first. `replaces` is the number of characters that an entry
 * replaces. Enter chooses the first entry only if its name or a word of its name starts with the text.
 */
export function nameMenu(entries: readonly MenuEntry[], query: string, replaces: number): Menu {
  const part = query.toLowerCase();
  const rankedEntries = entries.flatMap((entry) => {
    const rank = rankOf(entry, part);
    return rank === undefined ? [] : [{ entry, rank }];
  });
  const sortedEntries = rankedEntries.toSorted((a, b) => a.rank - b.rank).slice(0, mostEntries);
  const isPreselected = (sortedEntries[0]?.rank ?? ranks.description) <= ranks.word;
  return { entries: sortedEntries.map(({ entry }) => entry), replaces, isPreselected };
}

function rankOf({ value, label = value, detail }: MenuEntry, part: string): number | undefined {
  const name = label.replace(/^[/@]/, "").toLowerCase();
  // Enter submits a name that is typed in full.
  if (name === part) return ranks.equal;
  if (name.startsWith(part)) return ranks.start;
  for (let index = name.indexOf(part); index !== -1; index = name.indexOf(part, index + 1)) {
    if (!/[\p{L}\p{N}]/u.test(name.charAt(index - 1))) return ranks.word;
  }
  if (name.includes(part)) return ranks.part;
  return detail?.toLowerCase().includes(part) ? ranks.description : undefined;
}
