import { hash } from "node:crypto";
import type { JsonObject } from "mcparley";
import type { DefinitionKind } from "../renderer/renderer.ts";

/** Maximum depth of a value. A deeper one of a hostile server would exhaust the stack. */
export const maxDepth = 200;

/**
 * Returns the canonical JSON of a value (RFC 8785): without whitespace, and with the members of objects in the order of their
 * UTF-16 code units. Two values have the same canonical JSON if they are equal as JSON.
 *
 * An unpaired surrogate is written as an escape, where RFC 8785 requires an error: a definition that contains one must have a hash
 * too. Throws a `RangeError` if the value is nested more than 200 levels deep.
 */
export function canonicalJson(value: unknown, depth = 0): string {
  if (depth > maxDepth) throw new RangeError(`The JSON value is nested more than ${maxDepth} levels deep.`);
  if (typeof value !== "object" || value === null) {
    // `undefined` and functions have no JSON. Numbers and strings are written by ECMAScript as RFC 8785 requires.
    return JSON.stringify(value) ?? "null";
  }
  let json = "";
  if (Array.isArray(value)) {
    for (const element of value) json += `${json === "" ? "" : ","}${canonicalJson(element, depth + 1)}`;
    return `[${json}]`;
  }
  // The default order of JavaScript is that of UTF-16 code units.
  for (const name of Object.keys(value).toSorted()) {
    const member = (value as JsonObject)[name];
    if (member === undefined) continue;
    json += `${json === "" ? "" : ","}${JSON.stringify(name)}:${canonicalJson(member, depth + 1)}`;
  }
  return `{${json}}`;
}

/** Returns the SHA-256 of a text as hexadecimal digits. */
export function sha256(text: string): string {
  return hash("sha256", text);
}

/** Returns the SHA-256 of the canonical JSON of a value. */
export function hashOfJson(value: unknown): string {
  return sha256(canonicalJson(value));
}

/**
 * Returns the hash of a definition: SHA-256 over its kind and each of its members.
 *
 * No member is excluded. A model or a host may read any of them, also `_meta` and members that this revision does not know, so
 * each can change the behaviour of a call. A server with a volatile member, such as a timestamp, is reviewed again.
 */
export function hashOfDefinition(kind: DefinitionKind, definition: unknown): string {
  return hashOfJson([kind, definition]);
}

/** Returns the hash of a definition without its name. A renamed definition has the same one. */
export function hashWithoutName(kind: DefinitionKind, definition: unknown): string {
  if (typeof definition !== "object" || definition === null) return hashOfDefinition(kind, definition);
  const { name: _name, uri: _uri, uriTemplate: _template, ...members } = definition as JsonObject;
  return hashOfDefinition(kind, members);
}
