import type { JsonObject } from "mcparley";
import { isObject } from "@mcparley/internal/is-object";
import { type NumberIssue, scanJson } from "./scan-json.ts";
import { acceptsText } from "./schema-at.ts";

/** Maximum characters of the arguments of one call. */
const MAX_CHARS = 4_194_304;

/** The arguments of a call, or a sentence for the model that wrote them. */
export type ReadArguments = { readonly arguments: JsonObject } | { readonly problem: string };

/**
 * Reads the arguments of a tool call, which a model wrote as JSON text.
 *
 * Empty text is an empty object. An integer that JavaScript cannot represent becomes a string if the input schema accepts one at
 * its place, and is a problem otherwise, so that no digit changes. A property that occurs twice is a problem, because the
 * servers would disagree about its value. The arguments are not checked against the schema.
 */
export function readArguments(text: string, inputSchema?: JsonObject): ReadArguments {
  if (text.trim() === "") return { arguments: {} };
  if (text.length > MAX_CHARS) {
    return { problem: `The arguments have ${text.length} characters. Send at most ${MAX_CHARS}.` };
  }
  const scanned = scanJson(text);
  if ("problem" in scanned) return scanned;
  const lost = scanned.numbers.find((number) => !canBeText(number, inputSchema));
  if (lost) return { problem: describe(lost) };
  return parse(quote(text, scanned.numbers));
}

function canBeText({ path, isFinite }: NumberIssue, inputSchema: JsonObject | undefined): boolean {
  return isFinite && inputSchema !== undefined && acceptsText(inputSchema, path);
}

function describe({ literal, pointer, isFinite }: NumberIssue): string {
  const start = literal.length > 64 ? `${literal.slice(0, 64)}...` : literal;
  const fact = isFinite ? "cannot be represented exactly" : "is too large for a number";
  const place = pointer === "" ? "The arguments are a number, and" : `The number at ${JSON.stringify(pointer)}`;
  return `${place} ${start} ${fact}. Send it as a string: "${start}".`;
}

/** Puts numbers into quotes, from the first to the last. */
function quote(text: string, numbers: readonly NumberIssue[]): string {
  const parts: string[] = [];
  let end = 0;
  for (const { start, literal } of numbers) {
    parts.push(text.slice(end, start), `"${literal}"`);
    end = start + literal.length;
  }
  return parts.join("") + text.slice(end);
}

function parse(text: string): ReadArguments {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return { arguments: value };
    return { problem: `The arguments are ${kindOf(value)}. Send one JSON object.` };
  } catch (error) {
    const reason = error instanceof Error ? error.message : "it cannot be parsed";
    return { problem: `The arguments are not valid JSON: ${reason.slice(0, 200)}. Send one JSON object.` };
  }
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : `a ${typeof value}`;
}
