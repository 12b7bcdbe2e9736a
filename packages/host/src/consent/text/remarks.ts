import { type SuspiciousCharacter, suspiciousCharacters, visibleText } from "./visible-text.ts";

/** Maximum characters that one remark names, and maximum remarks. A hostile text can contain any number. */
const maxCharacters = 5;
const maxRemarks = 20;

/** The kinds of invisible characters, by their code points. */
const kinds: readonly (readonly [RegExp, string])[] = [
  [/[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]/u, "direction control"],
  [/[\u200b-\u200d\u2060\ufeff]/u, "zero width"],
  [/[\u{e0000}-\u{e007f}]/u, "tag"],
  [/[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/u, "variation selector"],
  [/\p{Cc}/u, "control character"],
];

/** Returns remarks about the suspicious characters of all texts in a definition, the names of members included. */
export function remarksOn(definition: unknown, nameOfDefinition: string): string[] {
  const remarks: string[] = [];
  describeText(nameOfDefinition, "The name", { isName: true, remarks });
  walk(definition, "", remarks);
  if (remarks.length <= maxRemarks) return remarks;
  return [...remarks.slice(0, maxRemarks), `${remarks.length - maxRemarks} more texts have such characters.`];
}

/** Returns the remark about the suspicious characters of a text, or undefined. `subject` starts the sentence. */
export function remarkOn(text: string, subject: string, isName = false): string | undefined {
  const found = suspiciousCharacters(text, isName);
  if (found.length === 0) return undefined;
  const named = found.slice(0, maxCharacters).map(describeCharacter);
  const rest = found.length > maxCharacters ? ` and ${found.length - maxCharacters} more` : "";
  return `${subject} contains ${named.join(", ")}${rest}.${hiddenText(found)}`;
}

function describeText(
  text: string,
  subject: string,
  { isName, remarks }: { isName: boolean; remarks: string[] },
): void {
  const remark = remarkOn(text, subject, isName);
  if (remark !== undefined) remarks.push(remark);
}

function walk(value: unknown, path: string, remarks: string[]): void {
  if (typeof value === "string") describeText(value, `The text at "${visibleText(path)}"`, { isName: false, remarks });
  if (typeof value !== "object" || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    const inner = `${path}/${pointerToken(name)}`;
    if (!Array.isArray(value))
      describeText(name, `The name of the member "${visibleText(inner)}"`, { isName: false, remarks });
    walk(member, inner, remarks);
  }
}

/** Returns a name as a part of a JSON pointer (RFC 6901). */
export function pointerToken(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}

function describeCharacter({ character, position, reason }: SuspiciousCharacter): string {
  const code = character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0");
  const kind = kinds.find(([pattern]) => pattern.test(character))?.[1] ?? "invisible";
  const shown = reason === "confusable" ? `"${character}", which is not ASCII` : kind;
  return `U+${code} (${shown}) at position ${position}`;
}

/** Returns the ASCII text that tag characters encode. Models read it, and people do not see it. */
function hiddenText(found: readonly SuspiciousCharacter[]): string {
  const codes = found
    .map(({ character }) => character.codePointAt(0)! - 0xe0000)
    .filter((code) => code >= 0x20 && code < 0x7f);
  if (codes.length === 0) return "";
  return ` Its tag characters spell ${JSON.stringify(String.fromCharCode(...codes.slice(0, 200)))}.`;
}
