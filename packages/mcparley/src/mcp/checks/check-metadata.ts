import { isObject } from "../../rpc/messages.ts";
import { isRole } from "../content.ts";
import { isMetaKey } from "../methods.ts";

/** Throws a TypeError if the annotations of content or of a resource have an invalid member. `where` is their path. */
export function checkAnnotations(annotations: unknown, where: string): void {
  if (annotations === undefined) return;
  if (!isObject(annotations)) throw new TypeError(`${where} must be an object`);
  const { audience, priority, lastModified } = annotations;
  if (audience !== undefined && !(Array.isArray(audience) && audience.every(isRole))) {
    throw new TypeError(`${where}.audience must be a list of "user" and "assistant"`);
  }
  if (priority !== undefined && !isPriority(priority)) {
    throw new TypeError(`${where}.priority must be a number from 0 to 1; got ${JSON.stringify(priority)}`);
  }
  if (lastModified === undefined || (typeof lastModified === "string" && !Number.isNaN(Date.parse(lastModified))))
    return;
  throw new TypeError(`${where}.lastModified must be an ISO 8601 date; got ${JSON.stringify(lastModified)}`);
}

/** Returns whether a value is a priority: a number from 0 to 1. */
export function isPriority(value: unknown): boolean {
  return typeof value === "number" && value >= 0 && value <= 1;
}

/** Throws a TypeError if the specification forbids a key of `_meta`. `where` is the path of `_meta`. */
export function checkMetaKeys(meta: unknown, where: string): void {
  for (const key in meta as object) {
    if (!isMetaKey(key)) throw new TypeError(`${where} has the invalid key "${key}"`);
  }
}
