import { redact } from "mcparley";

/** Names of variables, headers, options and query parameters whose values are secret. */
const secretName =
  /(?:^|[^a-z])(?:auth(?:orization)?|token|secret|pass(?:word|wd|phrase)?|pwd|pat|jwt|cookie|credentials?|(?:api|access|private|client|license|encryption|signing|auth)[^a-z]?key|key)s?(?:$|[^a-z])/i;

/** A long value of letters and digits without words, such as a key or an id. */
export const randomText: RegExp = /^(?=.*\d)(?=.*[A-Za-z])[\w.~+=%-]{16,}$/;

/** Whether the name of a variable, a header or an option is that of a secret. */
export function isSecretName(name: string): boolean {
  return secretName.test(name.replace(/([a-z])([A-Z])/g, "$1-$2"));
}

/** Whether a text has the form of a secret, such as the token of a known service. */
export function isSecretValue(text: string): boolean {
  return redact(text) !== text || /^(?:gh[opsu]_|github_pat_|glpat-|sk-|xox[abpr]-|AKIA|eyJ[\w-]+\.)/.test(text);
}

/** Whether a text contains a reference, such as `Bearer ${env:TOKEN}`. */
export function hasReference(text: string): boolean {
  return /\$\{[^{}]+\}/.test(text);
}

/**
 * Returns the value of a variable or a header for display. A value that looks like a secret is replaced by its length.
 *
 * A path is shown also if the name is that of a secret, because such a variable can select a program, as `SSH_AUTH_SOCK` does.
 */
export function shownValue(name: string, value: string): string {
  const isPath = /^(?:[~.]{0,2}[\\/]|[a-z]:\\|[a-z]+:(?:path=|\/\/))/i.test(value);
  const hasSecretName = isSecretName(name) && !isPath && !hasReference(value);
  if (value !== "" && (hasSecretName || isSecretValue(value) || randomText.test(value))) {
    return `(${value.length} characters, not shown)`;
  }
  return /^\w+:\/\//.test(value) ? safeUrl(value) : value;
}

/**
 * Returns the value of a variable for display. It is only hidden if its name is that of a secret and it has no form of program text or of a
 * path, because a variable such as `BASH_ENV` selects a program, whose name can have the form of a token.
 */
export function shownVariable(name: string, value: string): string {
  return canBeCode(value) || !isSecretName(name) ? value : shownValue(name, value);
}

/**
 * Returns the words of a command for display. A word is only hidden if it is the value of an option with the name of a secret and has the
 * form of a secret: each other word can be the name of a program. The values of a URL's query are hidden.
 */
export function shownWords(words: readonly string[]): string[] {
  return words.map((word, index) => {
    const pair = headerOrVariable(words, index);
    const isPlain = pair !== undefined && /^(?:(?:Bearer|Basic|Token) )?[\w.~+/=-]+$/i.test(pair.value);
    if (
      pair &&
      isPlain &&
      isSecretName(pair.name) &&
      !canBeCode(word.slice(0, -pair.value.length).replace(/: *$/, ""))
    ) {
      return withoutEnd(word, pair.value);
    }
    if (canBeCode(word)) return word;
    if (/^https?:\/\//i.test(word)) return safeUrl(word);
    const value = secretOption(words, index);
    return value !== undefined && hasSecretForm(value) ? withoutEnd(word, value) : word;
  });
}

/** Whether a text has the form of a secret, and not that of a path or of a file name with an extension. */
function hasSecretForm(text: string): boolean {
  return !/[\\/]|\.[a-z]{1,4}$/i.test(text) && (isSecretValue(text) || randomText.test(text));
}

/** Whether a text has white space or a character with a meaning in a shell. A URL can have `&`. */
function canBeCode(text: string): boolean {
  return /[\s;|`<>()]|\$[({]/.test(text) || (text.includes("&") && !/^https?:\/\//i.test(text));
}

/**
 * Returns a URL without its user information and fragment, without the values of its query, and without the parts of its path that look like
 * secrets. References stay, and so does the host: a backslash ends it, as a slash does.
 */
export function safeUrl(text: string): string {
  const [, scheme = "", authority = "", urlEnd = text] = /^([a-z][\w+.-]*:\/\/)([^/\\?#]*)(.*)$/is.exec(text) ?? [];
  const host = authority.replace(/^.*@/s, "***@");
  const [path = "", ...queries] = urlEnd.replace(/#.*$/s, "").split("?");
  const query = queries
    .join("?")
    .replace(/(^|&)([^=&]*=)(?!\$\{)[^&]+/g, "$1$2***")
    .replace(/(?<=^|&)[\w.~+%-]{8,}(?=&|$)/g, "***");
  const end = redact((scheme === "" ? path : safePath(path)) + (queries.length > 0 ? `?${query}` : ""));
  return scheme + host + withOneMask(end);
}

/** Returns the path of a URL without the parts that look like secrets, and without the values of its matrix parameters. */
function safePath(path: string): string {
  return path
    .replace(/(;[^=/;]*=)(?!\$\{)[^/;]+/g, "$1***")
    .split(/([/\\])/)
    .map((part, index, parts) => (isSecretPart(part, parts[index - 2] ?? "") ? "***" : part))
    .join("");
}

/** Whether a part of a path looks like a secret, or follows a name such as `token`. */
function isSecretPart(part: string, previousPart: string): boolean {
  if (part === "" || hasReference(part)) return false;
  const isNamed = /^(?:token|key|secret|password|(?:api|access)[_-]?(?:key|token))s?$/i.test(previousPart);
  const hasForm = randomText.test(part) || /^(?:\d{16,}|[A-Za-z]{32,})$/.test(part) || isSecretValue(part);
  return isNamed || hasForm;
}

/** Whether the value of a header or a variable is hidden. */
type IsHidden = (name: string, value: string) => boolean;

/** Returns the words of a command in which the values of secret options, and all values of headers and variables, are replaced. */
export function safeWords(words: readonly string[]): string[] {
  return words.map((_, index) => safeWord(words, index, () => true));
}

/** Returns a word without its secrets. */
export function safeWord(words: readonly string[], index: number, isHidden: IsHidden): string {
  const word = words[index] ?? "";
  const pair = headerOrVariable(words, index);
  if (pair && pair.value !== "" && !hasReference(pair.value) && isHidden(pair.name, pair.value)) {
    return withoutEnd(word, pair.value);
  }
  const value = secretOption(words, index);
  if (value !== undefined && !hasReference(value)) return withoutEnd(word, value);
  const safe = /^[a-z][\w+.-]*:\/\//i.test(word) ? safeUrl(word) : withSafeUrls(word);
  return isSecretValue(safe) && !hasReference(safe) ? redactWord(safe) : safe;
}

/** Returns a text with its URLs as `safeUrl` returns them. */
export function withSafeUrls(text: string): string {
  return text.replace(/[a-z][\w+.-]*:\/\/[^\s"'<>]+/gi, safeUrl);
}

/** Returns the name and the value in a word that passes a header or a variable: `-H`, `--header`, `-e` or `--env`, in one word or in two. */
function headerOrVariable(words: readonly string[], index: number): { name: string; value: string } | undefined {
  const [word = "", previousWord = ""] = [words[index], words[index - 1]];
  const text =
    /^(?:-H|--?headers?=?)(?=.)(.*)$/is.exec(word)?.[1] ?? (/^(?:-H|--?headers?)$/i.test(previousWord) ? word : "");
  const header = /^\s*([\w-]+)\s*[:=]\s*(.*)$/s.exec(text);
  const assignment = /^(?:-e|--?env=)(.*)$/is.exec(word)?.[1] ?? (/^(?:-e|--?env)$/i.test(previousWord) ? word : "");
  const variable = /^([A-Za-z_]\w*)=(.*)$/s.exec(assignment);
  const [, name, value] = header ?? variable ?? [];
  return name === undefined || value === undefined ? undefined : { name, value };
}

/**
 * Returns the value of an option with the name of a secret: the end of the word, as in `--token=VALUE`, or the whole word after the option.
 * Undefined for other words, and for an option after another one.
 */
function secretOption(words: readonly string[], index: number): string | undefined {
  const word = words[index] ?? "";
  const [, name = "", value] = /^(?:--?)?([\w.-]+)=(.*)$/s.exec(word) ?? [];
  if (value !== undefined && isSecretName(name)) return value;
  const previousWord = words[index - 1] ?? "";
  const follows = /^--?[a-z]/i.test(previousWord) && !previousWord.includes("=") && isSecretName(previousWord);
  return follows && !word.startsWith("-") ? word : undefined;
}

/** Returns a word with asterisks in place of the value at its end. */
function withoutEnd(word: string, value: string): string {
  return `${word.slice(0, word.length - value.length)}***`;
}

/** Returns a redacted text with the mask of this module. */
function withOneMask(text: string): string {
  return text.replaceAll("[redacted]", "***");
}

function redactWord(word: string): string {
  const redactedText = redact(word);
  return redactedText === word ? "***" : withOneMask(redactedText);
}
