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
const word = /[\p{L}\p{M}\p{N}\p{So}_]+/gu;
/** Characters without ink that `printable` leaves: a carriage return, and the empty braille pattern. */
const inkless = /[\r\u2800]/g;

/** A character that a person does not see, or mistakes for another one. */
export interface SuspiciousCharacter {
  readonly character: string;
  /** Index of its first UTF-16 code unit. */
  readonly position: number;
  readonly reason: "invisible" | "confusable";
}

/** Returns the suspicious characters of a text. In a name, each character outside of printable ASCII is suspicious. */
export function suspiciousCharacters(text: string, isName = false): SuspiciousCharacter[] {
  const confusable = isName ? undefined : confusablePositions(text);
  const found: SuspiciousCharacter[] = [];
  const shown = invisiblePositions(text);
  let position = 0;
  for (const character of text) {
    if (shown.has(position)) found.push({ character, position, reason: "invisible" });
    else if (confusable ? confusable.has(position) : !/^[ -~]$/.test(character)) {
      found.push({ character, position, reason: "confusable" });
    }
    position += character.length;
  }
  return found;
}

/** Returns a text in which invisible and confusable characters are escaped: `\u{202e}`. */
export function visibleText(text: string, isName = false): string {
  let from = 0;
  let shown = "";
  for (const { character, position } of suspiciousCharacters(text, isName)) {
    shown += text.slice(from, position) + escaped(character);
    from = position + character.length;
  }
  return shown + text.slice(from);
}

/** Returns a value as JSON in which invisible and confusable characters of its texts are escaped. */
export function visibleJson(value: unknown, indent?: number): string {
  return visibleText(JSON.stringify(value, null, indent) ?? "null");
}

function escaped(character: string): string {
  return `\\u{${character.codePointAt(0)!.toString(16)}}`;
}

/** Returns the positions of the characters that `printable` of `mcparley` escapes: controls, direction marks, tags, ... */
function invisiblePositions(text: string): Set<number> {
  const positions = new Set([...text.matchAll(inkless)].map(({ index }) => index));
  const output = printable(text);
  if (output === text) return positions;
  let inOutput = 0;
  let position = 0;
  for (const character of text) {
    if (output.startsWith(character, inOutput)) inOutput += character.length;
    // CR LF became LF.
    else if (character !== "\r") {
      positions.add(position);
      inOutput += output.startsWith("\\x", inOutput) ? 4 : output.indexOf("}", inOutput) + 1 - inOutput;
    } else if (output.startsWith("\\x0d", inOutput)) inOutput += 4;
    position += character.length;
  }
  return positions;
}

/**
 * Returns the positions of confusable characters: styled letters, letters of another script in a word with Latin letters, and
 * words of look-alikes in a text that has Latin letters and no other letters of that script.
 */
function confusablePositions(text: string): Set<number> {
  const positions = new Set<number>();
  const letters = text.match(new RegExp(otherScripts, "gu")) ?? [];
  const imitatesLatin = letters.length > 0 && latin.test(text) && letters.every((letter) => lookAlikes.has(letter));
  for (const { 0: part, index } of text.matchAll(word)) {
    if (!/^\w*$/.test(part)) addConfusable(part, index, { imitatesLatin, positions });
  }
  return positions;
}

function addConfusable(
  part: string,
  index: number,
  { imitatesLatin, positions }: { imitatesLatin: boolean; positions: Set<number> },
): void {
  const isSuspect = imitatesLatin || latin.test(part);
  let position = index;
  for (const character of part) {
    if (isStyled(character) || (isSuspect && otherScripts.test(character))) positions.add(position);
    position += character.length;
  }
}

/** Whether a character is a font variant of an ASCII letter, such as a fullwidth or mathematical one. */
function isStyled(character: string): boolean {
  return character.codePointAt(0)! > 0xff && /^[A-Za-z]$/.test(character.normalize("NFKC"));
}
