import { hash } from "node:crypto";
import { printable } from "mcparley";

/*
 * Confusable characters are found by the scripts of Unicode and by compatibility mappings, which the JavaScript engine has. A
 * table of confusables (UTS #39) would have about 6,000 entries, and the packages with one are not maintained. The two short lists
 * below are only needed for words that consist of look-alikes altogether.
 */

/** Cyrillic and Greek letters that look like Latin ones in most fonts. */
const lookAlikes = new Set("асԁеһіјӏорԛѕԝхуүАВСЕНІЈКМОРЅТХУԌԚԜΑΒΕΖΗΙΚΜΝΟΡΤΥΧικνορυγϲ");
const otherScripts =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}\p{Script=Lisu}]/u;
const latin = /\p{Script=Latin}/u;
const wordCharacter = /[\p{L}\p{M}\p{N}\p{So}_]/u;

/**
 * Maximum UTF-16 units of a text that are examined and shown. It is more than a person reads, and examining takes a few hundredths of a
 * second. A longer text has a note with its length and its hash.
 */
export const maxShown = 65_536;

/** A character that a person does not see, or mistakes for another one. */
export interface SuspiciousCharacter {
  readonly character: string;
  /** Index of its first UTF-16 code unit. */
  readonly position: number;
  readonly reason: "invisible" | "confusable";
}

/** Returns the suspicious characters of a text. In a name, each character outside of printable ASCII is suspicious. */
export function suspiciousCharacters(text: string, isName = false): SuspiciousCharacter[] {
  if (/^[\n -~]*$/.test(text) && !(isName && text.includes("\n"))) return [];
  const isInvisible = invisibleUnits(text);
  const isConfusable = isName ? undefined : confusableUnits(text);
  const characters: SuspiciousCharacter[] = [];
  for (let position = 0; position < text.length; position++) {
    const code = text.codePointAt(position)!;
    const isSuspicious = isConfusable ? isConfusable[position] === 1 : code < 0x20 || code > 0x7e;
    if (isInvisible[position] === 1 || isSuspicious) {
      const reason = isInvisible[position] === 1 ? "invisible" : "confusable";
      characters.push({ character: String.fromCodePoint(code), position, reason });
    }
    if (code > 0xffff) position++;
  }
  return characters;
}

/**
 * Returns a text in which invisible and confusable characters are escaped: `\u{202e}`. Of a text over `limit` UTF-16 units, it returns the
 * start, and a note with the rest and the hash of the whole.
 */
export function visibleText(text: string, isName = false, limit: number = maxShown): string {
  const part = shortText(text, limit);
  let offset = 0;
  let visible = "";
  for (const { character, position } of suspiciousCharacters(part, isName)) {
    visible += part.slice(offset, position) + escapeCharacter(character);
    offset = position + character.length;
  }
  return visible + part.slice(offset);
}

/** Returns a value as JSON in which invisible and confusable characters of its texts are escaped. `limit` is that of `visibleText`. */
export function visibleJson(value: unknown, indent?: number, limit?: number): string {
  return visibleText(JSON.stringify(value, null, indent) ?? "null", false, limit);
}

/** Returns the first units of a text that are examined and shown. No character is cut in half. */
export function startOf(text: string, limit: number = maxShown): string {
  if (text.length <= limit) return text;
  const isPairCut = limit > 0 && text.codePointAt(limit - 1)! > 0xffff;
  return text.slice(0, isPairCut ? limit - 1 : limit);
}

/**
 * Returns a text of at most `limit` UTF-16 units, or its start and a note with the rest and the hash of the whole. So two long texts with
 * the same start differ.
 */
export function shortText(text: string, limit: number): string {
  const part = startOf(text, limit);
  if (part.length === text.length) return text;
  const unitsLeft = text.length - part.length;
  return `${part}[${unitsLeft} more characters are not shown. SHA-256 of the whole text: ${hash("sha256", text)}]`;
}

function escapeCharacter(character: string): string {
  return `\\u{${character.codePointAt(0)!.toString(16)}}`;
}

/**
 * Returns 1 for the first unit of each character without ink: carriage returns, the empty braille pattern, and those that `printable` of
 * `mcparley` escapes: controls, direction marks, tags, ...
 */
function invisibleUnits(text: string): Uint8Array {
  const units = new Uint8Array(text.length);
  const output = printable(text);
  let inOutput = 0;
  for (let position = 0; position < text.length; position++) {
    const code = text.codePointAt(position)!;
    const outputCode = output.codePointAt(inOutput);
    // `printable` leaves a braille pattern, and the line feed of CR LF.
    if (code === 0x0d || code === 0x28_00) units[position] = 1;
    const isLoneSurrogate = code >= 0xd800 && code < 0xe000;
    if (isLoneSurrogate) {
      // `printable` replaces it by one unit, U+FFFD.
      units[position] = 1;
      inOutput++;
    } else if (outputCode === code) inOutput += code > 0xffff ? 2 : 1;
    else if (code !== 0x0d || outputCode === 0x5c) {
      units[position] = 1;
      inOutput += output.startsWith("\\x", inOutput) ? 4 : output.indexOf("}", inOutput) + 1 - inOutput;
    }
    if (code > 0xffff) position++;
  }
  return units;
}

/** Kinds of characters, as bits. */
const LATIN = 1;
/** A letter of a script with letters that look like Latin ones. */
const OTHER_SCRIPT = 2;
const LOOK_ALIKE = 4;
/** A font variant of an ASCII letter, such as a fullwidth or mathematical one. */
const STYLED = 8;
const WORD = 16;
const kinds = new Map<number, number>();

function kindOf(code: number): number {
  const knownKind = kinds.get(code);
  if (knownKind !== undefined) return knownKind;
  const character = String.fromCodePoint(code);
  const kind =
    (latin.test(character) ? LATIN : 0) |
    (otherScripts.test(character) ? OTHER_SCRIPT : 0) |
    (lookAlikes.has(character) ? LOOK_ALIKE : 0) |
    (code > 0xff && /^[A-Za-z]$/.test(character.normalize("NFKC")) ? STYLED : 0) |
    (wordCharacter.test(character) ? WORD : 0);
  kinds.set(code, kind);
  return kind;
}

/**
 * Returns 1 for the first unit of each confusable character: styled letters, letters of another script in a word with Latin letters, and
 * words of look-alikes in a text that has Latin letters and no other letters of that script.
 */
function confusableUnits(text: string): Uint8Array {
  const units = new Uint8Array(text.length);
  let kindsInText = 0;
  let isEachLookAlike = true;
  for (let position = 0; position < text.length; position++) {
    const code = text.codePointAt(position)!;
    const kind = kindOf(code);
    kindsInText |= kind;
    if ((kind & OTHER_SCRIPT) !== 0 && (kind & LOOK_ALIKE) === 0) isEachLookAlike = false;
    if (code > 0xffff) position++;
  }
  const imitatesLatin = (kindsInText & LATIN) !== 0 && (kindsInText & OTHER_SCRIPT) !== 0 && isEachLookAlike;
  for (let start = 0; start < text.length;) {
    const end = wordEnd(text, start);
    markConfusable(units, { text, start, end: end.position, isSuspect: imitatesLatin || (end.kinds & LATIN) !== 0 });
    start = Math.max(end.position, start + 1);
  }
  return units;
}

/** Returns the end of the word that starts at a position, and the kinds of its characters. */
function wordEnd(text: string, start: number): { position: number; kinds: number } {
  let kindsInWord = 0;
  let position = start;
  while (position < text.length) {
    const code = text.codePointAt(position)!;
    const kind = kindOf(code);
    if ((kind & WORD) === 0) break;
    kindsInWord |= kind;
    position += code > 0xffff ? 2 : 1;
  }
  return { position, kinds: kindsInWord };
}

function markConfusable(
  units: Uint8Array,
  { text, start, end, isSuspect }: { text: string; start: number; end: number; isSuspect: boolean },
): void {
  for (let position = start; position < end; position++) {
    const code = text.codePointAt(position)!;
    const kind = kindOf(code);
    if ((kind & STYLED) !== 0 || (isSuspect && (kind & OTHER_SCRIPT) !== 0)) units[position] = 1;
    if (code > 0xffff) position++;
  }
}
