/** The start of the escape of a surrogate. `JSON.stringify` escapes a surrogate only if the other half of its pair is missing. */
const surrogate = "\\ud";
const surrogateLength = 6;

/**
 * Replaces each lone surrogate in the output of `JSON.stringify` with U+FFFD, in names of members too. Readers of other languages
 * refuse the whole text for one.
 *
 * Almost no text has one, so a text is searched once, and not copied. A pattern with a function would take several times as long for
 * megabytes of surrogates.
 */
export function repairJson(json: string): string {
  const parts: string[] = [];
  let start = 0;
  for (let position = -1; (position = json.indexOf(surrogate, position + 1)) !== -1;) {
    let slash = position;
    while (json[slash - 1] === "\\") slash--;
    // Otherwise the backslash is the second one of an escaped backslash.
    if ((position - slash) % 2 === 0) {
      parts.push(json.slice(start, position));
      start = position + surrogateLength;
    }
  }
  return start === 0 ? json : parts.concat(json.slice(start)).join("\ufffd");
}

/**
 * Returns a value as JSON text that every reader accepts. With `indent`, the number of spaces for each level, it has several
 * lines. Default: one line.
 *
 * It is `JSON.stringify`, except for texts with one half of a surrogate pair, such as an emoji that `slice` has cut. The half
 * becomes U+FFFD. `JSON.stringify` writes the half as an escape like `\ud83d`. Readers in Python and Rust refuse such a text, and so do
 * model providers. A value that JSON does not have, such as undefined, becomes `null`.
 *
 * @example
 * ```ts
 * import { wellFormedJson } from "mcparley";
 *
 * console.log(wellFormedJson({ title: "Party 🎉".slice(0, 7) })); // → {"title":"Party �"}
 * ```
 */
export function wellFormedJson(value: unknown, indent?: number): string {
  return repairJson(JSON.stringify(value, null, indent) ?? "null");
}

/**
 * Returns a name or a URI unchanged. Throws a `TypeError` if it has a lone surrogate: it would be sent as another name, which nothing
 * has. `what` is the subject of the message, such as `its name`.
 */
export function requireWellFormed(text: string, what: string): string {
  if (text.isWellFormed()) return text;
  throw new TypeError(
    `${what} ${JSON.stringify(text.slice(0, 200))} has half of a surrogate pair, which cannot be sent; use whole characters`,
  );
}
