import type { JsonObject } from "mcparley";
import { isObject } from "@mcparley/internal/is-object";
import { pointerStep } from "@mcparley/internal/json-pointer";
import { findTarget } from "./adaptation.ts";

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
  const scan = scanJson(text);
  if ("problem" in scan) return scan;
  const issue = scan.numbers.find((number) => !canBeText(number, inputSchema));
  if (issue) return { problem: describe(issue) };
  return parse(quote(text, scan.numbers));
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

/** Maximum number of schemas that are looked at for one place. */
const MAX_SCHEMAS = 500;

/**
 * Returns whether the schema names the type `string` at a place in a value. A place for which several schemas are possible
 * accepts text if one of them does.
 */
function acceptsText(schema: JsonObject, path: readonly (string | number)[]): boolean {
  let budget = MAX_SCHEMAS;
  /** Returns the schemas that apply to the same value. */
  function expand(start: readonly unknown[]): readonly JsonObject[] {
    const expansion = new Set<JsonObject>();
    const waiting = [...start];
    while (waiting.length > 0 && budget-- > 0) {
      const next = waiting.pop();
      if (!isObject(next) || expansion.has(next)) continue;
      expansion.add(next);
      waiting.push(findTarget(schema, next["$ref"])?.schema);
      for (const keyword of ["allOf", "anyOf", "oneOf", "then", "else"]) {
        const branches = next[keyword];
        // A long list is cut, because the budget could not reach its end.
        waiting.push(...(Array.isArray(branches) ? branches.slice(0, MAX_SCHEMAS) : [branches]));
      }
    }
    return [...expansion];
  }
  let schemas = expand([schema]);
  for (const step of path) schemas = expand(schemas.map((parent) => childAt(parent, step)));
  return schemas.some(({ type }) => type === "string" || (Array.isArray(type) && type.includes("string")));
}

/** Returns the schema of a member or item. */
function childAt(schema: JsonObject, step: string | number): unknown {
  if (typeof step === "string") {
    const { properties } = schema;
    const isNamed = isObject(properties) && Object.hasOwn(properties, step);
    return isNamed ? properties[step] : schema["additionalProperties"];
  }
  const { prefixItems, items } = schema;
  const tuple = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : [];
  return tuple[step] ?? items;
}

/** Maximum depth of arguments. It is the limit of the library's servers. */
const MAX_DEPTH = 64;
/** Maximum number of values in arguments. It is the limit of the library's servers. */
const MAX_VALUES = 100_000;

/** A number whose digits JavaScript would change. */
interface NumberIssue {
  /** The number as it was written. */
  readonly literal: string;
  /** The position of its first character. */
  readonly start: number;
  readonly path: readonly (string | number)[];
  readonly pointer: string;
  /** Whether the number is within the range of a double. */
  readonly isFinite: boolean;
}

type Scan = { readonly numbers: readonly NumberIssue[] } | { readonly problem: string };

/** An object or array that is not closed yet. */
interface Container {
  /** The names so far, of an object. */
  readonly names: Set<string> | undefined;
  /** The name of the current member, or the index of the current item. */
  key: string | number;
}

/**
 * Finds in JSON text what `JSON.parse` would change without an error: numbers that are rounded, and members that occur twice. It
 * also checks the limits of depth and size. Text that is not JSON can have any result. Each character is read once.
 */
function scanJson(text: string): Scan {
  const open: Container[] = [];
  const numbers: NumberIssue[] = [];
  let values = 0;
  let index = 0;
  while (index < text.length) {
    const start = index;
    const char = text.charAt(index++);
    const container = open.at(-1);
    if (char === '"') {
      index = endOfString(text, start);
      if (!container?.names || !isName(text, index)) continue;
      const problem = enterMember(container, text.slice(start, index), open);
      if (problem !== undefined) return { problem };
    } else if (isNumberPart(char)) {
      while (isNumberPart(text.charAt(index))) index++;
      const literal = text.slice(start, index);
      if (isChanged(literal)) numbers.push(issueAt(literal, start, open));
    } else if (char === "{" || char === "[") {
      if (open.length >= MAX_DEPTH) return { problem: `The arguments are nested deeper than ${MAX_DEPTH} levels.` };
      open.push(char === "{" ? { names: new Set(), key: "" } : { names: undefined, key: 0 });
      values++;
    } else if (char === "}" || char === "]") {
      open.pop();
    } else if (char === ",") {
      if (typeof container?.key === "number") container.key++;
      values++;
    }
    if (values > MAX_VALUES) return { problem: `The arguments have more than ${MAX_VALUES} values.` };
  }
  return { numbers };
}

/** Returns the index after the quote that ends a string. A regular expression could exhaust the stack on a long string. */
function endOfString(text: string, start: number): number {
  for (let position = start + 1; ;) {
    const quote = text.indexOf('"', position);
    if (quote === -1) return text.length;
    let escapes = 0;
    while (text[quote - 1 - escapes] === "\\") escapes++;
    if (escapes % 2 === 0) return quote + 1;
    position = quote + 1;
  }
}

/** Returns whether a character can occur in a number. Letters of `true` and `false` among them form no number. */
function isNumberPart(char: string): boolean {
  return (char >= "0" && char <= "9") || char === "-" || char === "+" || char === "." || char === "e" || char === "E";
}

/** Returns whether a string that ends at an index is the name of a member. */
function isName(text: string, end: number): boolean {
  let index = end;
  while (" \t\r\n".includes(text.charAt(index)) && index < text.length) index++;
  return text.charAt(index) === ":";
}

/** Makes a member the current one. Returns a problem if its object already has it. */
function enterMember(container: Container, literal: string, open: readonly Container[]): string | undefined {
  const name = unquote(literal);
  container.key = name;
  if (!container.names?.has(name)) {
    container.names?.add(name);
    return undefined;
  }
  return `The property ${JSON.stringify(pointerOf(open))} occurs twice. Send it once.`;
}

function unquote(literal: string): string {
  try {
    return String(JSON.parse(literal));
  } catch {
    return literal;
  }
}

function issueAt(literal: string, start: number, open: readonly Container[]): NumberIssue {
  const path = open.map(({ key }) => key);
  return { literal, start, path, pointer: pointerOf(open), isFinite: Number.isFinite(Number(literal)) };
}

function pointerOf(open: readonly Container[]): string {
  return open.map(({ key }) => pointerStep(String(key))).join("");
}

const number = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
/** Maximum characters of a number. */
const MAX_NUMBER_CHARS = 1000;

/** Returns whether a number is an integer whose JSON text would have other digits, or is beyond the range of a double. */
function isChanged(literal: string): boolean {
  if (literal.length > MAX_NUMBER_CHARS) return true;
  if (!number.test(literal)) return false;
  const value = Number(literal);
  if (!Number.isFinite(value)) return true;
  if (Number.isSafeInteger(value)) return false;
  const original = decimalOf(literal);
  if (original.exponent < 0) return false;
  const roundTrip = decimalOf(JSON.stringify(value));
  return original.digits !== roundTrip.digits || original.exponent !== roundTrip.exponent;
}

/** Returns the digits of a number without zeros at its ends, and the power of ten with which they are multiplied. */
function decimalOf(literal: string): { digits: string; exponent: number } {
  const [, integer = "", fraction = "", power = "0"] = number.exec(literal) ?? [];
  const all = (integer + fraction).replace(/^0+/, "");
  const digits = all.replace(/0+$/, "");
  return { digits, exponent: Number(power) - fraction.length + (all.length - digits.length) };
}
