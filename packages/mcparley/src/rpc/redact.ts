/** The text in place of a secret. */
export const redactedText = "[redacted]";

/** The ends of names of secrets: `API_KEY`, `access-token`, `clientSecret`, `Authorization`, `Set-Cookie`. */
const secretName =
  "(?:api[_-]?key|access[_-]?key|private[_-]?key|token|secret|passw(?:or)?d|passphrase|credentials?|authorization|cookie|session[_-]?id)";

/**
 * A name followed by `=` or `:`, with optional quotes, or by the space between a command line flag and its value. The start of the
 * name is not matched: a search for it at each position would take a hundred times as long. The closing quote is missing in a text that
 * was cut.
 */
const namedSecret = /* @__PURE__ */ (() =>
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
const knownToken =
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
    .replace(userinfo, `$1${redactedText}@`)
    .replace(namedSecret, `$1${redactedText}`)
    .replace(scheme, `$1$2${redactedText}`)
    .replace(knownToken, redactedText);
}
