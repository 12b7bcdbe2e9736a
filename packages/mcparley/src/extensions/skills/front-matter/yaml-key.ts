import type { JsonObject } from "../../../rpc/messages.ts";
import { FrontMatterError } from "./front-matter-error.ts";
import { plainValue } from "./yaml-scalar.ts";

/** So deep may lists and mappings be nested. */
export const maxDepth = 16;
/** Longer keys need another notation (YAML 1.2, section 7.4.2). */
const maxKey = 1000;

export function tooDeep(no: number): FrontMatterError {
  return new FrontMatterError(`it is nested deeper than ${maxDepth} levels`, no);
}

/** Checks a key that was written without quotes. */
export function keyOf(text: string, no: number): string {
  if (typeof plainValue(text, no) === "string") return text;
  throw new FrontMatterError(`the key ${text} is no text`, no, "Put it into quotes.");
}

/** Adds a member. Two of one key, and keys that mean something else to some readers, are refused. */
export function setMember(map: JsonObject, { key, value, no }: { key: string; value: unknown; no: number }): void {
  if (key === "__proto__" || key === "<<" || key.length > maxKey) {
    throw new FrontMatterError(`${JSON.stringify(key.slice(0, 40))} cannot be a key`, no);
  }
  if (Object.hasOwn(map, key)) throw new FrontMatterError(`the key "${key}" stands there twice`, no);
  map[key] = value;
}
