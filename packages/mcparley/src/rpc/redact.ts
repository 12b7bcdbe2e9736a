const hidden = "[redacted]";

/** The ends of names of secrets: `API_KEY`, `access-token`, `clientSecret`, `Authorization`, `Set-Cookie`. */
const secretName =
  "(?:api[_-]?key|access[_-]?key|private[_-]?key|token|secret|passw(?:or)?d|passphrase|credentials?|authorization|cookie|session[_-]?id)";

/**
 * A name followed by `=` or `:`, with optional quotes, or by the space between a command line flag and its value. The start of the
 * name is not matched: a search for it at each position would take a hundred times as long. The closing quote is missing in a text that
 * was cut.
 */
const named = /* @__PURE__ */ (() =>
  new RegExp(
    `(${secretName}(?:["']?\\s{0,4}[=:]\\s{0,4}|(?<=--[\\w.-]{0,80})\\s{1,4}))("[^"\\n]*"?|'[^'\\n]*'?|(?:(?:bearer|dpop|basic|digest)\\s{1,4})?[^\\s"',;&}\\]]+)`,
    "gi",
  ))();

/**
 * `Bearer …`, `Basic …` and `DPoP …` without a name. `DPoP` only if a digit follows, because error texts use the word.
 *
 * V8 stores each repetition of `{8,}`, and throws for a token of megabytes. It does not for `{8}` and a `*` behind it.
 */
const scheme = /\b(bearer|basic|dpop(?=\s{1,4}[a-z_.~+/=-]*\d))(\s{1,4})[\w.~+/=-]{8}[\w.~+/=-]*/gi;

/** User and password, or a token, before the host of a URL. */
const userinfo = /(:\/\/)[^\s/@"'<>]{1,512}@/g;

/**
 * Tokens with a known prefix, and JSON Web Tokens, even if they are cut off. Nothing is required after a repetition, so
 * that many repeated prefixes take linear time.
 */
const known =
  /\b(?:sk-[\w-]{16}[\w-]*|gh[opsur]_\w{16}\w*|github_pat_\w{16}\w*|glpat-[\w-]{16}[\w-]*|xox[abeoprs]-[\w-]{10}[\w-]*|npm_\w{16}\w*|AKIA[A-Z0-9]{12}[A-Z0-9]*|AIza[\w-]{30}[\w-]*|eyJ[\w-]{8}[\w-]*(?:\.[\w-]*){0,2})/g;

/**
 * Replaces text that looks like a secret by `[redacted]`. For errors and logs.
 *
 * It recognizes secrets by the name before them (`api_key=`, `Authorization:`), and common tokens by their form. It does not
 * find every secret, so do not rely on it to log values that contain secrets.
 *
 * @example
 * ```ts
 * import { redact } from "mcparley";
 *
 * console.log(redact("curl -H 'Authorization: Bearer abc123'")); // curl -H 'Authorization: [redacted]'
 * ```
 */
export function redact(text: string): string {
  return text
    .replace(userinfo, `$1${hidden}@`)
    .replace(named, `$1${hidden}`)
    .replace(scheme, `$1$2${hidden}`)
    .replace(known, hidden);
}

/** Maximum UTF-16 units of a secret that is also found in its encoded forms, and of a text in which secrets are searched. */
const ENCODED_CHARS = 4_096;
const SEARCHED_CHARS = 131_072;

/**
 * Replaces known secrets, for example in a text of a server that repeats the request. It also finds secrets that are percent-encoded,
 * form-encoded or escaped as in JSON or HTML, as a whole or in part. A text is cut to 131,072 characters.
 */
export function redactKnown(text: string, secrets: Iterable<string>): string {
  let redacted = text.slice(0, SEARCHED_CHARS);
  for (const secret of secrets) {
    // Shorter texts are not secrets, and occur inside other words.
    if (secret.length < 4) continue;
    redacted = redacted.replaceAll(secret, hidden);
    if (secret.length <= ENCODED_CHARS) redacted = redacted.replace(encodedForms(secret), hidden);
  }
  return redacted;
}

/** Returns the pattern of a secret in which each character but letters, digits and `_` can be encoded. */
function encodedForms(secret: string): RegExp {
  return new RegExp(secret.replace(/\\+|[^\w\\]/gu, encodedForm), "g");
}

/** Returns the pattern of a character, or of several backslashes: with backslashes before it, or in an encoded form. */
function encodedForm(text: string): string {
  const percent = Array.from(new TextEncoder().encode(text), (byte) => `%${hex(byte, 2)}`).join("");
  const units = Array.from({ length: text.length }, (_, i) => `\\\\u${hex(text.charCodeAt(i), 4)}`).join("");
  // After backslashes of the secret no others are optional, so that a text matches in one way only.
  const literal = text.startsWith("\\")
    ? `\\\\{${text.length},${4 * text.length}}`
    : `(?:(?<!\\\\)\\\\{1,3})?${text.replace(/[$()*+./?[\]^{|}]/, "\\$&")}`;
  const plus = text === " " ? "|\\+" : "";
  return `(?:${literal}|${percent}|${units}|&#?\\w{1,8};${plus})`;
}

/** Returns the pattern of a hexadecimal number, whose letters can be small or capital. */
function hex(value: number, digits: number): string {
  return value
    .toString(16)
    .padStart(digits, "0")
    .replace(/[a-f]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);
}
