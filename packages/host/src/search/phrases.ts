/** A phrase of several words, without its first word, and the word that stands for it. */
interface Phrase {
  readonly rest: readonly string[];
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
export const PHRASES: ReadonlyMap<string, readonly Phrase[]> = byFirstWord();

function byFirstWord(): Map<string, Phrase[]> {
  const phrases = new Map<string, Phrase[]>();
  for (const [phrase, word] of TABLE) {
    const [first = "", ...rest] = phrase.split(" ");
    phrases.set(first, [...(phrases.get(first) ?? []), { rest, word }]);
  }
  return phrases;
}
