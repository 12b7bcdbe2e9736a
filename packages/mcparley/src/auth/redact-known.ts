import { redactedText } from "../rpc/redact.ts";

/** Maximum UTF-16 units of a text in which secrets are searched, and of a secret. */
const SEARCHED_CHARS = 131_072;

/** UTF-16 units at the start of a secret that are searched. The units behind them are removed as far as they agree. */
const HEAD_CHARS = 64;

/**
 * A character that is percent-encoded, or escaped as in JSON or HTML, also repeatedly: `%2F`, `%252F`, `\/`, `\\u002f`, `&#x2f;`.
 * Backslashes before any other character count as its escape. What follows a repetition can always match a part of it, so a text is read
 * in linear time.
 */
const encodedCharacter =
  /%(?:25)*(?:[0-7][\da-f]|[c-f][\da-f](?:%(?:25)*[89ab][\da-f]){1,3})|\\+(?:u[\da-f]{4}|x[\da-f]{2}|.?)|&(?:amp;)*(?:#\d{1,7}|#x[\da-f]{1,6}|amp|lt|gt|quot|apos);/gis;

const escapes: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };
const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/** A text without encodings. */
interface DecodedText {
  readonly text: string;
  /** The position of each UTF-16 unit in the text before, and the length of that text. */
  readonly positions: readonly number[];
}

/**
 * Replaces known secrets, for example in a text of a server that repeats the request. It also finds secrets that are percent-encoded,
 * form-encoded or escaped as in JSON or HTML, as a whole or in part. A text is cut to 131,072 characters.
 */
export function redactKnown(text: string, secrets: Iterable<string>): string {
  const source = text.slice(0, SEARCHED_CHARS);
  const decoded = decodeTwice(source);
  const ranges: { start: number; end: number }[] = [];
  for (const secret of secrets) {
    // Both are decoded, so that characters of the secret which look like an encoding are the same in both.
    const { text: wanted } = decodeTwice(secret.slice(0, SEARCHED_CHARS));
    // Shorter texts are not secrets, and occur inside other words.
    if (wanted.length < 4) continue;
    const head = wanted.slice(0, HEAD_CHARS);
    let end = 0;
    for (;;) {
      const start = decoded.text.indexOf(head, end);
      if (start === -1) break;
      end = start + head.length;
      while (end - start < wanted.length && decoded.text[end] === wanted[end - start]) end++;
      ranges.push({ start: decoded.positions[start]!, end: decoded.positions[end]! });
    }
  }
  return withoutRanges(source, ranges);
}

/** Removes two encodings, such as JSON in a URL. A space is form-encoded as `+`, so both become a space. */
function decodeTwice(text: string): DecodedText {
  const once = decode(text);
  const twice = decode(once.text);
  return {
    text: twice.text.replaceAll("+", " "),
    positions: twice.positions.map((position) => once.positions[position]!),
  };
}

function decode(text: string): DecodedText {
  const parts: string[] = [];
  const positions: number[] = [];
  let end = 0;
  const add = (part: string, positionOf: (index: number) => number): void => {
    parts.push(part);
    for (let index = 0; index < part.length; index++) positions.push(positionOf(index));
  };
  for (const { 0: encoded, index: start } of text.matchAll(encodedCharacter)) {
    const from = end;
    add(text.slice(from, start), (index) => from + index);
    add(decodeCharacter(encoded), () => start);
    end = start + encoded.length;
  }
  add(text.slice(end), (index) => end + index);
  positions.push(text.length);
  return { text: parts.join(""), positions };
}

/** Returns the character of a match of `encodedCharacter`. An empty text for backslashes at the end of a text. */
function decodeCharacter(encoded: string): string {
  if (encoded.startsWith("%")) {
    const bytes = encoded.match(/[\da-f]{2}(?=%|$)/gi) ?? [];
    return new TextDecoder().decode(Uint8Array.from(bytes, (byte) => Number.parseInt(byte, 16)));
  }
  if (encoded.startsWith("\\")) {
    const escaped = encoded.replace(/^\\+/, "");
    return escaped.length > 1
      ? String.fromCharCode(Number.parseInt(escaped.slice(1), 16))
      : (escapes[escaped] ?? escaped);
  }
  const name = encoded.slice(1, -1).replace(/^(?:amp;)+/i, "");
  if (!name.startsWith("#")) return entities[name.toLowerCase()] ?? encoded;
  const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  return code <= 0x10_ffff ? String.fromCodePoint(code) : encoded;
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
