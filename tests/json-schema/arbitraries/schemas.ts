import fc from "fast-check";
import type { JsonSchema } from "../../../packages/mcparley/src/schema/schema.ts";
import { type Dialect, dialectUri } from "../dialects.ts";
import { names, numbers, patterns, samples } from "./vocabulary.ts";

/** Names of the subschemas below `$defs` or `definitions`, to which `$ref` leads. */
const definitionNames = ["d0", "d1", "d2"] as const;

type Part = fc.Arbitrary<Record<string, unknown>>;
type Subschema = JsonSchema | boolean;

interface Position {
  /** How many more levels of subschemas may follow. */
  depth: number;
  /**
   * The definitions that `$ref` may lead to here. A subschema of the same value may only refer to later definitions, so that no
   * reference loops without going deeper into the value.
   */
  references: readonly string[];
}

/** Returns random schemas of a dialect. They are valid, self-contained, and use every keyword that ajv supports without a known defect. */
export function schemasOf(dialect: Dialect): fc.Arbitrary<JsonSchema> {
  const keyword = hasDefs(dialect) ? "$defs" : "definitions";
  const pointers = definitionNames.map((name) => `#/${keyword}/${name}`);
  const at = (index: number, depth: number): fc.Arbitrary<Subschema> =>
    subschema(dialect, { depth, references: pointers.slice(index) }, ["#", ...pointers]);
  const definitions = Object.fromEntries(definitionNames.map((name, index) => [name, at(index + 1, 1)]));
  return fc.tuple(at(0, 2), fc.record(definitions)).map(([root, defs]) => ({
    $schema: dialectUri[dialect],
    ...(typeof root === "boolean" ? { not: root ? { not: {} } : {} } : root),
    [keyword]: defs,
  }));
}

function hasDefs(dialect: Dialect): boolean {
  return dialect === "draft2019-09" || dialect === "draft2020-12";
}

function subschema(dialect: Dialect, position: Position, all: readonly string[]): fc.Arbitrary<Subschema> {
  const parts = partsOf(dialect, position, all);
  const object = fc
    .array(fc.oneof(...parts), { minLength: 0, maxLength: 4 })
    .map((list): Subschema => Object.assign({}, ...list) as JsonSchema);
  return dialect === "draft4" ? object : fc.oneof({ weight: 9, arbitrary: object }, fc.boolean());
}

/** Returns the keywords that may occur in a subschema, in groups of those that belong together. */
function partsOf(dialect: Dialect, position: Position, all: readonly string[]): Part[] {
  const parts = [...assertions(dialect), ...(position.references.length > 0 ? [reference(position.references)] : [])];
  if (position.depth === 0) return parts;
  const depth = position.depth - 1;
  const same = subschema(dialect, { depth, references: position.references }, all);
  const child = subschema(dialect, { depth, references: all }, all);
  return [...parts, ...inPlace(dialect, same), ...applicators(dialect, same, child)];
}

function reference(pointers: readonly string[]): Part {
  return one("$ref", fc.constantFrom(...pointers));
}

function one(keyword: string, value: fc.Arbitrary<unknown>): Part {
  return value.map((found) => ({ [keyword]: found }));
}

const size = fc.nat(4);
const name = fc.constantFrom(...names);
const number = fc.constantFrom(...numbers);
const pattern = fc.constantFrom(...Object.keys(patterns));
const type = fc.constantFrom("null", "boolean", "integer", "number", "string", "array", "object");

function assertions(dialect: Dialect): Part[] {
  const minNames = dialect === "draft4" ? 1 : 0;
  const nameList = fc.uniqueArray(name, { minLength: minNames, maxLength: 3 });
  return [
    one("type", fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 }))),
    one("enum", fc.uniqueArray(fc.constantFrom(...samples), { minLength: 1, maxLength: 4, selector: canonical })),
    one("multipleOf", fc.constantFrom(0.5, 1, 2, 3)),
    ...(dialect === "draft4" ? draft4Bounds() : bounds()),
    one("minLength", size),
    one("maxLength", size),
    one("pattern", pattern),
    one("minItems", size),
    one("maxItems", size),
    one("uniqueItems", fc.boolean()),
    one("minProperties", size),
    one("maxProperties", size),
    one("required", nameList),
    ...(dialect === "draft4" ? [] : [one("const", fc.constantFrom(...samples))]),
    ...(hasDefs(dialect) ? [one("dependentRequired", fc.dictionary(name, nameList, { maxKeys: 2 }))] : []),
  ];
}

/** Returns the same text for equal values, because draft-04 requires that the values of `enum` differ. */
function canonical(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  const entries = Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}:${canonical(one)}`);
  return `{${entries.toSorted().join()}}`;
}

function bounds(): Part[] {
  return ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"].map((keyword) => one(keyword, number));
}

function draft4Bounds(): Part[] {
  return [
    fc.record({ minimum: number, exclusiveMinimum: fc.boolean() }, { requiredKeys: ["minimum"] }),
    fc.record({ maximum: number, exclusiveMaximum: fc.boolean() }, { requiredKeys: ["maximum"] }),
  ];
}

/** Keywords whose subschemas apply to the same value. */
function inPlace(dialect: Dialect, same: fc.Arbitrary<Subschema>): Part[] {
  const list = fc.array(same, { minLength: 1, maxLength: 3 });
  const byName = fc.dictionary(name, same, { maxKeys: 2 });
  const namesOrSchema = fc.oneof(fc.uniqueArray(name, { minLength: 1, maxLength: 2 }), same);
  return [
    one("allOf", list),
    one("anyOf", list),
    one("oneOf", list),
    one("not", same),
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    ...(dialect === "draft4" ? [] : [fc.record({ if: same, then: same, else: same }, { requiredKeys: ["if"] })]),
    hasDefs(dialect)
      ? one("dependentSchemas", byName)
      : one("dependencies", fc.dictionary(name, namesOrSchema, { maxKeys: 2 })),
  ];
}

/** Keywords whose subschemas apply to items or properties of the value. */
function applicators(dialect: Dialect, same: fc.Arbitrary<Subschema>, child: fc.Arbitrary<Subschema>): Part[] {
  const childOrBoolean = fc.oneof(child, fc.boolean());
  const tuple = fc.array(child, { minLength: 1, maxLength: 3 });
  const count = { minContains: size, maxContains: size };
  const parts = [
    one("properties", fc.dictionary(name, child, { maxKeys: 3 })),
    one("patternProperties", fc.dictionary(pattern, child, { maxKeys: 2 })),
    one("additionalProperties", childOrBoolean),
    one("items", child),
    dialect === "draft2020-12"
      ? one("prefixItems", tuple)
      : fc.record({ items: tuple, additionalItems: childOrBoolean }),
  ];
  if (dialect === "draft4") return parts;
  parts.push(one("propertyNames", same), one("contains", child));
  if (!hasDefs(dialect)) return parts;
  const evaluated = fc.oneof(fc.constant(false), child);
  return [
    ...parts,
    fc.record({ contains: child, ...count }, { requiredKeys: ["contains"] }),
    one("unevaluatedItems", evaluated),
    one("unevaluatedProperties", evaluated),
  ];
}
