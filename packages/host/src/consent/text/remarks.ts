import { type SuspiciousCharacter, shortText, startOf, suspiciousCharacters, visibleText } from "./visible-text.ts";

/** Maximum characters that one remark names, and maximum remarks. A hostile text can contain any number. */
const maxCharacters = 5;
const maxRemarks = 20;
/** Maximum UTF-16 units of all texts of a definition that are examined. */
const maxExamined = 262_144;
/** Maximum UTF-16 units of a name in a JSON pointer. */
const maxToken = 1_000;

/** The kinds of invisible characters, by their code points. */
const kinds: readonly (readonly [RegExp, string])[] = [
  [/[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]/u, "direction control"],
  [/[\u200b-\u200d\u2060\ufeff]/u, "zero width"],
  [/[\u{e0000}-\u{e007f}]/u, "tag"],
  [/[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/u, "variation selector"],
  [/\p{Cc}/u, "control character"],
];

/** The remarks on one definition so far. */
interface Remarks {
  readonly texts: string[];
  /** The texts with a remark, also those beyond the maximum. */
  count: number;
  /** UTF-16 units that may still be examined, and those of the texts after them. */
  unitsLeft: number;
  unexaminedUnits: number;
}

/**
 * Returns remarks about the suspicious characters of all texts in a definition, the names of members included. If the texts are too long
 * to be examined, the last remark states it.
 */
export function remarksOn(definition: unknown, nameOfDefinition: string): string[] {
  const remarks: Remarks = { texts: [], count: 0, unitsLeft: maxExamined, unexaminedUnits: 0 };
  describeText(nameOfDefinition, () => "The name", { isName: true, remarks });
  walk(definition, "", remarks);
  const { texts, count, unexaminedUnits } = remarks;
  if (count > maxRemarks) texts.push(`${count - maxRemarks} more texts have such characters.`);
  if (unexaminedUnits > 0)
    texts.push(`${unexaminedUnits} characters of other texts were not examined, because the texts are too long.`);
  return texts;
}

/** Returns the remark about the suspicious characters of a text, or undefined. `subject` starts the sentence. */
export function remarkOn(text: string, subject: string | (() => string), isName = false): string | undefined {
  const part = startOf(text);
  const characters = suspiciousCharacters(part, isName);
  const sentences: string[] = [];
  if (characters.length === 0 && part.length === text.length) return undefined;
  // Part of the subject are the names of members, which can be long.
  const what = typeof subject === "string" ? subject : subject();
  if (characters.length > 0) {
    const descriptions = characters.slice(0, maxCharacters).map(describeCharacter);
    const note = characters.length > maxCharacters ? ` and ${characters.length - maxCharacters} more` : "";
    sentences.push(`${what} contains ${descriptions.join(", ")}${note}.${hiddenText(characters)}`);
  }
  if (part.length < text.length) {
    sentences.push(`${what} has ${text.length} characters. Only the first ${part.length} were examined.`);
  }
  return sentences.join(" ");
}

function describeText(
  text: string,
  subject: () => string,
  { isName, remarks }: { isName: boolean; remarks: Remarks },
): void {
  const { length } = startOf(text);
  if (remarks.unitsLeft < length) {
    remarks.unexaminedUnits += text.length;
    return;
  }
  remarks.unitsLeft -= length;
  const remark = remarkOn(text, () => (remarks.count < maxRemarks ? subject() : ""), isName);
  if (remark === undefined) return;
  if (remarks.count < maxRemarks) remarks.texts.push(remark);
  remarks.count++;
}

function walk(value: unknown, path: string, remarks: Remarks): void {
  if (typeof value === "string") {
    describeText(value, () => `The text at "${visibleText(path)}"`, { isName: false, remarks });
  }
  if (typeof value !== "object" || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    const inner = `${path}/${pointerToken(name)}`;
    if (!Array.isArray(value)) {
      describeText(name, () => `The name of the member "${visibleText(inner)}"`, { isName: false, remarks });
    }
    walk(member, inner, remarks);
  }
}

/** Returns a name as a part of a JSON pointer (RFC 6901). Of a long name, it is the start, and a hash. */
export function pointerToken(name: string): string {
  return shortText(name, maxToken).replaceAll("~", "~0").replaceAll("/", "~1");
}

function describeCharacter({ character, position, reason }: SuspiciousCharacter): string {
  const code = character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0");
  const kind = kinds.find(([pattern]) => pattern.test(character))?.[1] ?? "invisible";
  const description = reason === "confusable" ? `"${character}", which is not ASCII` : kind;
  return `U+${code} (${description}) at position ${position}`;
}

/** Returns the ASCII text that tag characters encode. Models read it, and people do not see it. */
function hiddenText(characters: readonly SuspiciousCharacter[]): string {
  const codes = characters
    .map(({ character }) => character.codePointAt(0)! - 0xe0000)
    .filter((code) => code >= 0x20 && code < 0x7f);
  if (codes.length === 0) return "";
  return ` Its tag characters spell ${JSON.stringify(String.fromCharCode(...codes.slice(0, 200)))}.`;
}
