import { toRegExp } from "./patterns.ts";

const hex = "[0-9A-Fa-f]";
const property = String.raw`[Pp]\{(?<property>(?:\w{1,60}=)?\w{1,60})\}`;
/** The escapes of one character. The first one is a surrogate pair. */
const character = String.raw`u[Dd][89ABab]${hex}{2}\\u[Dd][C-Fc-f]${hex}{2}|u${hex}{4}|u\{0*(?:10${hex}{4}|${hex}{1,5})\}|x${hex}{2}|c[A-Za-z]|0(?!\d)|[fnrtv]|[$()*+./?[\\\]^{|}]`;
const nameEscape = String.raw`\\u(?:${hex}{4}|\{${hex}+\})`;
const name = String.raw`(?:[$_\p{ID_Start}]|${nameEscape})(?:[$\u200c\u200d\p{ID_Continue}]|${nameEscape})*`;

/** A part of a pattern outside of classes. A syntax error matches no alternative. */
const term = new RegExp(
  [
    String.raw`(?<assertion>[$^]|\\[Bb])`,
    String.raw`(?<quantifier>[*+?]\??|\{(?<least>\d+)(?:,(?<most>\d*))?\}\??)`,
    String.raw`(?<group>\((?:\?(?:[:=!]|<[=!]|<(?<name>${name})>))?)`,
    String.raw`(?<end>\))`,
    String.raw`(?<bar>\|)`,
    String.raw`(?<class>\[\^?)`,
    String.raw`\\(?:k<(?<reference>${name})>|(?<number>[1-9]\d*)|${property}|[DSWdsw]|${character})`,
    // A repetition without a limit would need memory for each character.
    String.raw`[^$()*+?[\\\]^{|}]{1,256}`,
  ].join("|"),
  "suy",
);

/** A member of a class. */
const member = new RegExp(String.raw`\\(?:(?<set>[DSWdsw])|${property}|[-b]|${character})|(?<end>\])|[^\\]`, "suy");

/**
 * Returns whether a text is a regular expression of ECMA-262 (2024) with the flag `u`.
 *
 * Takes time linear in the length of the text. The parser of the runtime takes seconds for long texts of nested quantifiers.
 */
export function isRegex(text: string): boolean {
  /** For each open group, whether a quantifier may follow it: none may follow one that looks ahead or behind. */
  const groups: boolean[] = [];
  const names = new Set<string>();
  const references = new Set<string>();
  let captures = 0;
  let highestReference = 0;
  let canRepeat = false;
  let position = 0;
  const isProperty = propertyTest();
  while (position < text.length) {
    const match = matchAt(term, text, position);
    const parts = match?.groups;
    if (!match || !parts) return false;
    position += match[0].length;
    const { quantifier, group, property: unicodeProperty } = parts;
    if (quantifier !== undefined) {
      const isOrdered = !parts.most || Number(parts.least) <= Number(parts.most);
      if (!canRepeat || !isOrdered) return false;
      canRepeat = false;
      continue;
    }
    canRepeat = parts.assertion === undefined && parts.bar === undefined && group === undefined;
    if (group !== undefined) {
      groups.push(group === "(" || group === "(?:" || parts.name !== undefined);
      if (group === "(" || parts.name !== undefined) captures++;
      if (parts.name === undefined) continue;
      if (names.has(parts.name)) return false;
      names.add(parts.name);
    } else if (parts.end !== undefined) {
      const isRepeatable = groups.pop();
      if (isRepeatable === undefined) return false;
      canRepeat = isRepeatable;
    } else if (parts.class !== undefined) {
      const end = endOfClass(text, position, isProperty);
      if (end === undefined) return false;
      position = end;
    } else if (parts.reference !== undefined) references.add(parts.reference);
    else if (parts.number !== undefined) highestReference = Math.max(highestReference, Number(parts.number));
    else if (unicodeProperty !== undefined && !isProperty(unicodeProperty)) return false;
  }
  return groups.length === 0 && highestReference <= captures && [...references].every((one) => names.has(one));
}

/** Returns the position behind a class whose members start at `position`. Undefined if it has a syntax error. */
function endOfClass(text: string, position: number, isProperty: (name: string) => boolean): number | undefined {
  /** The code point before a hyphen, or -1 for a set of characters. Undefined if the member before was no start of a range. */
  let previous: number | undefined;
  let start: number | undefined;
  for (let index = position; index < text.length;) {
    const match = matchAt(member, text, index);
    const parts = match?.groups;
    if (!match || !parts) return undefined;
    const [matchedText] = match;
    index += matchedText.length;
    if (parts.end !== undefined) return index;
    if (parts.property !== undefined && !isProperty(parts.property)) return undefined;
    if (matchedText === "-" && start === undefined && previous !== undefined && text[index] !== "]") {
      start = previous;
      continue;
    }
    const value = parts.set !== undefined || parts.property !== undefined ? -1 : codePointOf(matchedText);
    if (start === undefined) previous = value;
    else if (start < 0 || value < start) return undefined;
    else previous = undefined;
    start = undefined;
  }
  return undefined;
}

function matchAt(pattern: RegExp, text: string, position: number): RegExpExecArray | null {
  pattern.lastIndex = position;
  return pattern.exec(text);
}

/** Returns a function that returns whether a Unicode property exists. It asks the runtime once for each. */
function propertyTest(): (name: string) => boolean {
  const existing = new Set<string>();
  return (name) => {
    if (!existing.has(name) && toRegExp(String.raw`\p{${name}}`)?.unicode) existing.add(name);
    return existing.has(name);
  };
}

const controls: Readonly<Record<string, number>> = { 0: 0, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13 };

/** Returns the code point of a character, or of the escape of one. */
function codePointOf(member: string): number {
  const [first = "", kind = ""] = member;
  if (first !== "\\") return first.codePointAt(0)!;
  const [high = "", low] = member.slice(2).replaceAll(/[{}]/g, "").split("\\u");
  if (low !== undefined) return String.fromCharCode(Number(`0x${high}`), Number(`0x${low}`)).codePointAt(0)!;
  if (kind === "u" || kind === "x") return Number(`0x${high}`);
  if (kind === "c") return high.charCodeAt(0) % 32;
  return controls[kind] ?? kind.codePointAt(0)!;
}
