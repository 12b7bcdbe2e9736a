import { stemmer } from "stemmer";

/** The number of stems that are remembered. The vocabulary of 1,000 tools has about 8,000 words. */
const MAX_STEMS = 20_000;
const stems = new Map<string, string>();

/**
 * Returns the stem of a lower-case word, with the algorithm of Porter. Words that are not plain ASCII letters are unchanged.
 *
 * The algorithm has different stems for "status" and "statuses", so plurals of such words are reduced before.
 */
export function stem(word: string): string {
  const knownStem = stems.get(word);
  if (knownStem !== undefined) return knownStem;
  const newStem = /^[a-z]{3,}$/.test(word) ? stemmer(word.replace(/(..us)es$/, "$1")) : word;
  if (stems.size >= MAX_STEMS) stems.clear();
  stems.set(word, newStem);
  return newStem;
}

/** Returns the lower-case words of a text for the index. A word in camel case also returns its parts. */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  for (const word of rawWords(text)) {
    const parts = splitCase(word);
    for (const part of parts) words.push(part.toLowerCase());
    if (parts.length > 1) words.push(word.toLowerCase());
  }
  return withPhrases(words);
}

/** Returns the lower-case words of a query. A word in camel case is split only if it does not occur in the index. */
export function queryWords(text: string, isIndexed: (term: string) => boolean): string[] {
  const words = rawWords(text).flatMap((word) => (isIndexed(stem(word.toLowerCase())) ? [word] : splitCase(word)));
  return withPhrases(words.map((word) => word.toLowerCase()));
}

function rawWords(text: string): readonly string[] {
  const plain = text.replaceAll(/['’]s\b/g, "");
  // Most texts are ASCII, for which the second pattern is much faster.
  if (/[\u0080-\uFFFF]/.test(plain)) return plain.normalize("NFKC").match(/[\p{L}\p{N}]+/gu) ?? [];
  return plain.match(/[A-Za-z\d]+/g) ?? [];
}

/** Splits a word in camel case. A plural of capitals, such as "PRs", is one word. */
function splitCase(word: string): string[] {
  if (/^[A-Z]+s$/.test(word)) return [word];
  if (!/[a-z\d][A-Z]|[A-Z]{2}[a-z]/.test(word)) return [word];
  return word
    .replaceAll(/([a-z\d])([A-Z])/g, "$1 $2")
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, "$1 $2")
    .split(" ");
}

/** Adds one word for each known phrase, such as `pullrequest` for "pull request". */
function withPhrases(words: string[]): string[] {
  const length = words.length;
  for (let start = 0; start < length; start++) {
    for (const { nextWords, word } of PHRASES.get(words[start] ?? "") ?? []) {
      if (nextWords.every((next, offset) => isForm(words[start + 1 + offset], next))) words.push(word);
    }
  }
  return words;
}

/** Whether two words have the same stem. "pull requests" is a form of "pull request". */
function isForm(word: string | undefined, phraseWord: string): boolean {
  return word === phraseWord || (word !== undefined && stem(word) === stem(phraseWord));
}

/** A phrase of several words, without its first word, and the word that stands for it. */
interface Phrase {
  readonly nextWords: readonly string[];
  readonly word: string;
}

/** Phrases and the word that is added for each. */
const TABLE: readonly (readonly [phrase: string, word: string])[] = [
  ["pull request", "pullrequest"],
  ["merge request", "mergerequest"],
  ["e mail", "email"],
  ["to do list", "todo"],
  ["to do task", "todo"],
  ["to do item", "todo"],
  ["virtual machine", "virtualmachine"],
  ["sign in", "login"],
  ["log in", "login"],
  ["set up", "setup"],
  ["web site", "website"],
  ["web page", "webpage"],
  ["work item", "issue"],
  ["drop down", "dropdown"],
  ["key value", "keyvalue"],
  ["tell me when", "monitor"],
  ["notify me", "monitor"],
  ["let me know when", "monitor"],
  ["alert me", "monitor"],
  ["keep an eye on", "monitor"],
  ["get rid of", "delete"],
  ["look up", "search"],
  ["look for", "search"],
  ["find out", "get"],
  ["turn on", "enable"],
  ["turn off", "disable"],
  ["switch off", "disable"],
  ["take back", "revert"],
  ["hand over", "assign"],
  ["up to date", "latest"],
  ["right now", "current"],
  ["pass on", "forward"],
  ["logged in", "authenticated"],
  ["am i", "whoami"],
  ["how many", "count"],
  ["number of", "count"],
  ["how much", "cost"],
  ["how big", "size"],
  ["how often", "count"],
  ["how long", "duration"],
  ["take over", "ownership"],
  ["bring back", "restore"],
];

/** The phrases by their first word. */
const PHRASES: ReadonlyMap<string, readonly Phrase[]> = byFirstWord();

function byFirstWord(): Map<string, Phrase[]> {
  const phrases = new Map<string, Phrase[]>();
  for (const [phrase, word] of TABLE) {
    const [first = "", ...nextWords] = phrase.split(" ");
    phrases.set(first, [...(phrases.get(first) ?? []), { nextWords, word }]);
  }
  return phrases;
}

/** Words of a query without a relation to a tool. They are ignored unless the query has no other words. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about all an and any are as at be been by can could did do does each else every for from get give had has have help here how
  i if in into is it its just let like me my need no not now of on or our over per please right show so some somebody someone
  something tell than that the then there these this those to us using via want was we were what when where which who whom
  why will with without works would yesterday today tomorrow weekend you your`.split(/\s+/),
);
