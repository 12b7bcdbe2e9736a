import { redactedText } from "../rpc/redact.ts";

/** Maximum UTF-16 units of a text in which secrets are searched, and of a secret. */
const SEARCHED_CHARS = 131_072;

/** UTF-16 units at the start of a secret that are searched. The next units of the text are removed as far as they equal those of the secret. */
const HEAD_CHARS = 64;

/**
 * A character that is percent-encoded, or escaped as in JSON or HTML, also repeatedly: `%2F`, `%252F`, `\/`, `\\u002f`, `&#x2f;`.
 * Backslashes before any other character count as its escape. The part after a repetition also matches the end of the repetition, so a
 * text is read in linear time.
 */
const encodedCharacter =
  /%(?:25)*(?:[0-7][\da-f]|[c-f][\da-f](?:%(?:25)*[89ab][\da-f]){1,3})|\\+(?:u[\da-f]{4}|x[\da-f]{2}|.?)|&(?:amp;)*(?:#\d{1,7}|#x[\da-f]{1,6}|amp|lt|gt|quot|apos);/gis;

const escapes: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };
const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/** A text without encodings. */
interface DecodedText {
  readonly text: string;
  /** The position of each UTF-16 unit in the original text, and the length of that text. */
  readonly positions: readonly number[];
}

/**
 * Replaces known secrets, for example in a text of a server that repeats the request. It also finds secrets that are percent-encoded,
 * form-encoded or escaped as in JSON or HTML, as a whole or in part. A text is cut to 131,072 characters.
 */
export function redactKnown(text: string, secrets: Iterable<string>): string {
  const source = text.slice(0, SEARCHED_CHARS);
  const decodedText = decodeTwice(source);
  const ranges: { start: number; end: number }[] = [];
  for (const secret of secrets) {
    // Both are decoded, so that characters of the secret which look like an encoding are the same in both.
    const { text: decodedSecret } = decodeTwice(secret.slice(0, SEARCHED_CHARS));
    // Shorter texts are not secrets, and occur inside other words.
    if (decodedSecret.length < 4) continue;
    const head = decodedSecret.slice(0, HEAD_CHARS);
    let end = 0;
    for (;;) {
      const start = decodedText.text.indexOf(head, end);
      if (start === -1) break;
      end = start + head.length;
      while (end - start < decodedSecret.length && decodedText.text[end] === decodedSecret[end - start]) end++;
      ranges.push({ start: decodedText.positions[start]!, end: decodedText.positions[end]! });
    }
  }
  return withoutRanges(source, ranges);
}

/** Removes two encodings, such as JSON in a URL. A space is form-encoded as `+`, so both become a space. */
function decodeTwice(text: string): DecodedText {
  const positions = Array.from({ length: text.length + 1 }, (_, index) => index);
  const decodedText = decode(decode({ text, positions }));
  return { text: decodedText.text.replaceAll("+", " "), positions: decodedText.positions };
}

function decode({ text, positions: origins }: DecodedText): DecodedText {
  const parts: string[] = [];
  const positions: number[] = [];
  let end = 0;
  for (const { 0: match, index } of text.matchAll(encodedCharacter)) {
    const character = decodeCharacter(match);
    parts.push(text.slice(end, index), character);
    while (end < index) positions.push(origins[end++]!);
    for (let unit = 0; unit < character.length; unit++) positions.push(origins[index]!);
    end = index + match.length;
  }
  parts.push(text.slice(end));
  while (end <= text.length) positions.push(origins[end++]!);
  return { text: parts.join(""), positions };
}

/** Returns the character of a match of `encodedCharacter`. An empty text for backslashes at the end of a text. */
function decodeCharacter(match: string): string {
  if (match.startsWith("%")) {
    const bytes = match.match(/[\da-f]{2}(?=%|$)/gi) ?? [];
    return new TextDecoder().decode(Uint8Array.from(bytes, (byte) => Number.parseInt(byte, 16)));
  }
  if (match.startsWith("\\")) {
    const escapeText = match.replace(/^\\+/, "");
    return escapeText.length > 1
      ? String.fromCharCode(Number.parseInt(escapeText.slice(1), 16))
      : (escapes[escapeText] ?? escapeText);
  }
  const name = match.slice(1, -1).replace(/^(?:amp;)+/i, "");
  if (!name.startsWith("#")) return entities[name.toLowerCase()] ?? match;
  const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  return code <= 0x10_ffff ? String.fromCodePoint(code) : match;
}

/** Replaces ranges of a text, which can overlap. */
function withoutRanges(text: string, ranges: readonly { start: number; end: number }[]): string {
  let result = "";
  let end = 0;
  for (const range of ranges.toSorted((a, b) => a.start - b.start)) {
    if (range.end <= end) continue;
    if (range.start >= end) result += text.slice(end, range.start) + redactedText;
    end = range.end;
  }
  return result + text.slice(end);
}
