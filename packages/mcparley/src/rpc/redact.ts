const hidden = "[redacted]";

/** Names that announce a secret: `API_KEY`, `access-token`, `clientSecret`, `Authorization`, `Set-Cookie`. */
const secretName =
  "[\\w.-]{0,64}?(?:api[_-]?key|access[_-]?key|private[_-]?key|token|secret|passw(?:or)?d|passphrase|credentials?|authorization|cookie|session[_-]?id)";

/** A name, then `=` or `:` with optional quotes, or the blank between a command line flag and its value. */
const named = new RegExp(
  `((?:"${secretName}"|'${secretName}'|${secretName})\\s{0,4}[=:]\\s{0,4}|--${secretName}\\s{1,4})("[^"\\n]*"|'[^'\\n]*'|(?:(?:bearer|dpop|basic|digest)\\s{1,4})?[^\\s"',;&}\\]]+)`,
  "gi",
);

/** `Bearer …`, `Basic …` and `DPoP …` without a name before them; the last only before a digit, as it is spoken of in errors. */
const scheme = /\b(bearer|basic|dpop(?=\s{1,4}[\w.~+/=-]*\d))(\s{1,4})[\w.~+/=-]{8,}/gi;

/** User and password, or a token, before the host of a URL. */
const userinfo = /(:\/\/)[^\s/@"'<>]{1,512}@/g;

/**
 * Tokens that are known by their beginning, and JSON Web Tokens, also where they are cut off. Nothing has to follow what
 * repeats: a beginning that comes again and again would otherwise be read to the end each time.
 */
const known =
  /\b(?:sk-[\w-]{16,}|gh[opsur]_\w{16,}|github_pat_\w{16,}|glpat-[\w-]{16,}|xox[abeoprs]-[\w-]{10,}|npm_\w{16,}|AKIA[A-Z0-9]{12,}|AIza[\w-]{30,}|eyJ[\w-]{8,}(?:\.[\w-]*){0,2})/g;

/**
 * Replaces what looks like a secret in text that is about to reach an error or a log.
 *
 * It knows secrets by the name before them and by the form of common tokens, so it finds the obvious ones, not every
 * one: it is the last guard and not a reason to put secrets into messages.
 */
export function redact(text: string): string {
  return text
    .replace(userinfo, `$1${hidden}@`)
    .replace(named, `$1${hidden}`)
    .replace(scheme, `$1$2${hidden}`)
    .replace(known, hidden);
}

/** Replaces secrets that are known to whoever writes the text, as when a server repeats what it was sent. */
export function redactKnown(text: string, secrets: Iterable<string>): string {
  let redacted = text;
  // Short ones would take words apart that mean something else, and are no secrets.
  for (const secret of secrets) if (secret.length >= 4) redacted = redacted.replaceAll(secret, hidden);
  return redacted;
}
