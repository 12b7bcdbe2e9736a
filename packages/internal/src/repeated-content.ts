import { isDeepStrictEqual } from "node:util";
import type { ContentBlock } from "mcparley";
import { isObject } from "./is-object.ts";

/**
 * Returns whether texts of a result repeat its structured content.
 *
 * A server can put its value into an object, because structured content must be one: FastMCP sends the text X and `{ "result": X }`, and
 * a list as one text for each item. Another name than `result` can be the meaning of a number, a boolean or null.
 */
export function isRepeated(structuredContent: unknown, blocks: readonly ContentBlock[]): boolean {
  const texts = blocks.flatMap((block) => {
    if (block.type === "text") return block.text;
    return block.type === "resource" && "text" in block.resource ? block.resource.text : [];
  });
  if (texts.some((text) => isTextOf(text, structuredContent))) return true;
  const [[name, value] = [], ...furtherMembers] = isObject(structuredContent) ? Object.entries(structuredContent) : [];
  const isText = typeof value === "string";
  if (furtherMembers.length > 0 || !(name === "result" || isText || isObject(value) || Array.isArray(value)))
    return false;
  if (texts.some((text) => isTextOf(text, value))) return true;
  if (!Array.isArray(value) || value.length === 0 || value.length !== texts.length) return false;
  return texts.every((text, index) => isTextOf(text, value[index]));
}

/** Length up to which a text is parsed to find out whether it repeats the structured content. */
const MAX_PARSED_LENGTH = 1024 * 1024;

/** Words of Python for values of JSON. */
const pythonWords: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ["True", true],
  ["False", false],
  ["None", null],
]);

/** Returns whether a text is a value, or its JSON in any format. A JSON text over 1 MiB counts as one. */
export function isTextOf(text: string, value: unknown): boolean {
  if (typeof value === "string" && text.trim() === value.trim()) return true;
  if (!/^\s*[[{"\d\-tfnTFN]/.test(text)) return false;
  if (text.length > MAX_PARSED_LENGTH) {
    return typeof value === "string" ? text === JSON.stringify(value) : /^\s*[[{]/.test(text);
  }
  const word = pythonWords.get(text.trim());
  if (word !== undefined) return word === value;
  try {
    return isDeepStrictEqual(JSON.parse(text), value);
  } catch {
    return false;
  }
}
