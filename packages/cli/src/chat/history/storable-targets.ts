import { isSecretValue } from "@mcparley/internal/secret-values";
import { visibleLine } from "../../terminal/text.ts";

/** The words of a command line that can be stored, and those that cannot. */
interface StorableTargets {
  /** Names of configured servers, and URLs without secrets. */
  readonly targets: readonly string[];
  /** The other words, without their secrets, so that they can be shown. */
  readonly leftOut: readonly string[];
}

/**
 * Returns the words that select servers and can be given again: names of configured servers, and URLs without user information,
 * query, fragment or a segment that looks like a key. Commands are left out, because their arguments can contain secrets.
 */
export function storableTargets(words: readonly string[]): StorableTargets {
  const end = words.indexOf("--");
  const targetWords = end === -1 ? words : words.slice(0, end);
  const program = end === -1 ? undefined : words[end + 1];
  const leftOut = targetWords.filter((word) => !isStorable(word)).map(shownWord);
  return {
    targets: targetWords.filter(isStorable),
    leftOut: program === undefined ? leftOut : [...leftOut, visibleLine(`-- ${program} ...`)],
  };
}

function isStorable(word: string): boolean {
  return /^[a-z][a-z\d+.-]*:\/\//i.test(word) ? isSafeUrl(word) : isSafeName(word);
}

/** A long segment that mixes letters and digits, such as the key in the URL of a hosted server. */
const keyLike = /^(?=.*[a-z])(?=.*\d)[\w.~+=-]{20,}$/i;

function isSafeUrl(word: string): boolean {
  // "?" and "#" without a text after them are not visible in a parsed URL.
  if (!URL.canParse(word) || /[?#\s]/.test(word)) return false;
  const { protocol, username, password, pathname } = new URL(word);
  if (!/^https?:$/.test(protocol) || username !== "" || password !== "") return false;
  if (isSecretValue(word)) return false;
  return !pathname.split("/").some((segment) => keyLike.test(segment) || isSecretValue(segment));
}

const maxNameLength = 200;

function isSafeName(word: string): boolean {
  const isName = /^[^-\s]/.test(word) && word.length <= maxNameLength && visibleLine(word) === word;
  return isName && !isSecretValue(word);
}

/** Returns a word for a message. The part of a URL that can contain a secret is not shown. */
function shownWord(word: string): string {
  const [scheme = ""] = /^[a-z][a-z\d+.-]*:\/\//i.exec(word) ?? [];
  if (scheme !== "" && URL.canParse(word)) return visibleLine(`${scheme}${new URL(word).host}/...`);
  return isSecretValue(word) || scheme !== "" ? "***" : visibleLine(word.slice(0, maxNameLength));
}
