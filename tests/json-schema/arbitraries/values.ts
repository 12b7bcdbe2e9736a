import type { JsonSchema } from "../../../packages/mcparley/src/schema/schema.ts";
import { isObject } from "../../../packages/mcparley/src/rpc/messages.ts";
import type { Random } from "./random.ts";
import { names, numbers, patterns, samples, strings } from "./vocabulary.ts";

/** How deep the generated values are at most. */
const maxDepth = 4;

/** Returns a value that fits many keywords of the schema, but seldom all of them. */
export function valueNear(root: JsonSchema, random: Random): unknown {
  const definitions = (root.$defs ?? root.definitions ?? {}) as Readonly<Record<string, unknown>>;
  return near(root, 0);

  function near(schema: unknown, depth: number): unknown {
    if (depth > maxDepth || random.chance(0.1)) return random.pick(samples);
    const hints = collect(schema, 0);
    const fixed = hints.filter((hint) => "const" in hint || Array.isArray(hint.enum));
    if (fixed.length > 0 && random.chance(0.8)) {
      const hint = random.pick(fixed);
      return "const" in hint ? hint.const : random.pick(hint.enum as unknown[]);
    }
    switch (typeOf(hints)) {
      case "object":
        return objectNear(hints, depth);
      case "array":
        return arrayNear(hints, depth);
      case "string":
        return stringNear(hints);
      case "number":
      case "integer":
        return numberNear(hints);
      case "boolean":
        return random.chance(0.5);
      case "null":
        return null;
      default:
        return random.pick(samples);
    }
  }

  /** Returns the schema, and some of the subschemas that apply to the same value. */
  function collect(schema: unknown, level: number): JsonSchema[] {
    if (!isObject(schema) || level > 4) return [];
    const applied: unknown[] = [...list(schema.allOf)];
    for (const alternatives of [list(schema.anyOf), list(schema.oneOf)]) {
      if (alternatives.length > 0) applied.push(random.pick(alternatives));
    }
    applied.push(...(random.chance(0.5) ? [schema.if, schema.then] : [schema.else]));
    if (typeof schema.$ref === "string") {
      applied.push(schema.$ref === "#" ? root : definitions[schema.$ref.split("/").at(-1)!]);
    }
    return [schema, ...applied.flatMap((one) => collect(one, level + 1))];
  }

  function typeOf(hints: readonly JsonSchema[]): string | undefined {
    const types = hints.flatMap(({ type }) => (typeof type === "string" ? [type] : (list(type) as string[])));
    const implied = hints.flatMap((hint) => Object.keys(hint).flatMap((keyword) => impliedType[keyword] ?? []));
    const candidates = types.length > 0 && random.chance(0.7) ? types : [...types, ...implied];
    return candidates.length > 0 ? random.pick(candidates) : undefined;
  }

  function objectNear(hints: readonly JsonSchema[], depth: number): Record<string, unknown> {
    const properties = hints.flatMap((hint) => (isObject(hint.properties) ? Object.entries(hint.properties) : []));
    const byPattern = hints.flatMap((hint) =>
      isObject(hint.patternProperties) ? Object.entries(hint.patternProperties) : [],
    );
    const rest = hints.flatMap((hint) => [hint.additionalProperties, hint.unevaluatedProperties].filter(isObject));
    const value: Record<string, unknown> = {};
    const add = (key: string, schema: unknown): void => void (value[key] = near(schema, depth + 1));
    for (const [key, schema] of properties) if (random.chance(0.7)) add(key, schema);
    for (const [key, schema] of byPattern) if (random.chance(0.7)) add(random.pick(patterns[key] ?? names), schema);
    for (const key of hints.flatMap((hint) => list(hint.required) as string[])) {
      if (!Object.hasOwn(value, key) && random.chance(0.9)) add(key, rest.length > 0 ? random.pick(rest) : {});
    }
    for (let extra = random.below(3); extra > 0; extra--) {
      const key = random.pick(names);
      if (!Object.hasOwn(value, key)) add(key, rest.length > 0 ? random.pick(rest) : {});
    }
    return value;
  }

  function arrayNear(hints: readonly JsonSchema[], depth: number): unknown[] {
    const tuples = hints.map((hint) => list(hint.prefixItems ?? hint.items)).filter(({ length }) => length > 0);
    const tuple = tuples.length > 0 ? random.pick(tuples) : [];
    const rest = hints.flatMap((hint) =>
      [hint.items, hint.additionalItems, hint.contains, hint.unevaluatedItems].filter(isObject),
    );
    const sizes = hints.flatMap((hint) => [hint.minItems, hint.maxItems, hint.minContains, hint.maxContains]);
    const value: unknown[] = [];
    for (let length = nearNumber([...sizes, tuple.length]); value.length < length;) {
      if (value.length > 0 && random.chance(0.15)) value.push(structuredClone(random.pick(value)));
      else value.push(near(tuple[value.length] ?? (rest.length > 0 ? random.pick(rest) : {}), depth + 1));
    }
    return value;
  }

  function stringNear(hints: readonly JsonSchema[]): string {
    const matching = hints.flatMap(({ pattern }) => patterns[String(pattern)] ?? []);
    const text = random.pick(matching.length > 0 && random.chance(0.7) ? matching : strings);
    const lengths = hints
      .flatMap(({ minLength, maxLength }) => [minLength, maxLength])
      .filter((length) => length !== undefined);
    return lengths.length > 0 && random.chance(0.3) ? "a".repeat(nearNumber(lengths)) : text;
  }

  function numberNear(hints: readonly JsonSchema[]): number {
    const limits = hints.flatMap((hint) => [hint.minimum, hint.maximum, hint.exclusiveMinimum, hint.exclusiveMaximum]);
    const known = limits.filter((limit) => typeof limit === "number");
    return random.pick(known.length > 0 ? known : numbers) + random.pick([-1, -0.5, 0, 0, 0.5, 1]);
  }

  /** Returns a length of 0 to 6, near one of the numbers. */
  function nearNumber(candidates: readonly unknown[]): number {
    const known = candidates.filter((candidate) => typeof candidate === "number");
    return Math.min(6, Math.max(0, (known.length > 0 ? random.pick(known) : 1) + random.pick([-1, 0, 0, 1])));
  }
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

const impliedType: Readonly<Record<string, string>> = {
  properties: "object",
  patternProperties: "object",
  additionalProperties: "object",
  unevaluatedProperties: "object",
  propertyNames: "object",
  required: "object",
  minProperties: "object",
  maxProperties: "object",
  dependencies: "object",
  dependentRequired: "object",
  dependentSchemas: "object",
  items: "array",
  prefixItems: "array",
  additionalItems: "array",
  unevaluatedItems: "array",
  contains: "array",
  minItems: "array",
  maxItems: "array",
  uniqueItems: "array",
  minLength: "string",
  maxLength: "string",
  pattern: "string",
  minimum: "number",
  maximum: "number",
  exclusiveMinimum: "number",
  exclusiveMaximum: "number",
  multipleOf: "number",
};
