import { isObject } from "../../rpc/messages.ts";
import { type JsonSchema, pointerStep } from "../schema.ts";

/** A schema below a keyword. */
export type Subschema = JsonSchema | boolean;

/** The keywords that have a check, with the types that the meta-schemas require. `readDocument` has verified them. */
export interface CheckedSchema {
  readonly type?: TypeName | readonly TypeName[];
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly prefixItems?: readonly Subschema[];
  /** A list of schemas up to 2019-09. */
  readonly items?: Subschema | readonly Subschema[];
  readonly additionalItems?: Subschema;
  readonly contains?: Subschema;
  readonly minContains?: number;
  readonly maxContains?: number;
  readonly unevaluatedItems?: Subschema;
  readonly required?: readonly string[];
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly properties?: Readonly<Record<string, Subschema>>;
  readonly patternProperties?: Readonly<Record<string, Subschema>>;
  readonly additionalProperties?: Subschema;
  readonly propertyNames?: Subschema;
  readonly dependencies?: Readonly<Record<string, Subschema | readonly string[]>>;
  readonly dependentRequired?: Readonly<Record<string, readonly string[]>>;
  readonly dependentSchemas?: Readonly<Record<string, Subschema>>;
  readonly unevaluatedProperties?: Subschema;
  readonly allOf?: readonly Subschema[];
  readonly anyOf?: readonly Subschema[];
  readonly oneOf?: readonly Subschema[];
  readonly not?: Subschema;
  readonly if?: Subschema;
  readonly then?: Subschema;
  readonly else?: Subschema;
  /** A flag in draft-04. */
  readonly exclusiveMinimum?: number | boolean;
  readonly exclusiveMaximum?: number | boolean;
}

/** The types of JSON Schema. */
export type TypeName = "array" | "boolean" | "integer" | "null" | "number" | "object" | "string";

/** A version of JSON Schema. */
export type Dialect = "2020-12" | "2019-09" | "draft-07" | "draft-04";

/** The form of a keyword's value that the meta-schema of a dialect requires. */
export type Shape =
  | "schema"
  | "schemaOrBoolean"
  | "items"
  | "schemas"
  | "schemaOrSchemas"
  | "schemaMap"
  | "patternMap"
  | "dependencies"
  | "stringsMap"
  | "strings"
  | "someStrings"
  | "types"
  | "string"
  | "pattern"
  | "name"
  | "id"
  | "boolean"
  | "flag"
  | "booleanMap"
  | "number"
  | "positive"
  | "count"
  | "list"
  | "set"
  | "anything";

type Keywords = Readonly<Record<string, Shape>>;

const inEveryDialect: Keywords = {
  $schema: "string",
  $ref: "string",
  title: "string",
  description: "string",
  default: "anything",
  format: "string",
  type: "types",
  enum: "list",
  multipleOf: "positive",
  minimum: "number",
  maximum: "number",
  exclusiveMinimum: "number",
  exclusiveMaximum: "number",
  minLength: "count",
  maxLength: "count",
  pattern: "pattern",
  items: "schemaOrSchemas",
  additionalItems: "schema",
  minItems: "count",
  maxItems: "count",
  uniqueItems: "boolean",
  properties: "schemaMap",
  patternProperties: "patternMap",
  additionalProperties: "schema",
  minProperties: "count",
  maxProperties: "count",
  required: "strings",
  dependencies: "dependencies",
  definitions: "schemaMap",
  allOf: "schemas",
  anyOf: "schemas",
  oneOf: "schemas",
  not: "schema",
};

const draft04 = (): Keywords => ({
  ...inEveryDialect,
  // The meta-schema does not mention references.
  $ref: "anything",
  id: "string",
  enum: "set",
  required: "someStrings",
  exclusiveMinimum: "flag",
  exclusiveMaximum: "flag",
  additionalItems: "schemaOrBoolean",
  additionalProperties: "schemaOrBoolean",
});

const draft07 = (): Keywords => ({
  ...inEveryDialect,
  $id: "string",
  $comment: "string",
  const: "anything",
  contains: "schema",
  propertyNames: "schema",
  if: "schema",
  // oxlint-disable-next-line unicorn/no-thenable -- the name of a keyword
  then: "schema",
  else: "schema",
  examples: "list",
  readOnly: "boolean",
  contentMediaType: "string",
  contentEncoding: "string",
});

const draft201909 = (): Keywords => ({
  ...draft07(),
  $id: "id",
  $anchor: "name",
  $recursiveRef: "string",
  $recursiveAnchor: "boolean",
  $vocabulary: "booleanMap",
  $defs: "schemaMap",
  dependentSchemas: "schemaMap",
  dependentRequired: "stringsMap",
  minContains: "count",
  maxContains: "count",
  unevaluatedItems: "schema",
  unevaluatedProperties: "schema",
  writeOnly: "boolean",
  deprecated: "boolean",
  contentSchema: "schema",
});

function draft202012(): Keywords {
  const { additionalItems: _, ...keywords } = draft201909();
  return {
    ...keywords,
    // These two keywords no longer have an effect, but the meta-schema still checks them.
    $recursiveAnchor: "name",
    $recursiveRef: "string",
    $dynamicRef: "string",
    $dynamicAnchor: "name",
    prefixItems: "schemas",
    items: "items",
  };
}

const makers: Readonly<Record<Dialect, () => Keywords>> = {
  "2020-12": draft202012,
  "2019-09": draft201909,
  "draft-07": draft07,
  "draft-04": draft04,
};
const cache = new Map<Dialect, Keywords>();

/**
 * Returns the keywords of a dialect. All others have no meaning in the dialect. A table is made on first use, because V8 needs
 * a hidden class for each property that is added to a copy, which is measurable at the start of a process.
 */
export function keywordsOf(dialect: Dialect): Keywords {
  let keywords = cache.get(dialect);
  if (!keywords) cache.set(dialect, (keywords = makers[dialect]()));
  return keywords;
}

/**
 * Returns the dialect that a `$schema` names. Without one it is 2020-12 (SEP-1613). Returns undefined for an unsupported
 * dialect.
 */
export function dialectOf($schema: unknown): Dialect | undefined {
  if ($schema === undefined) return "2020-12";
  if (typeof $schema !== "string") return undefined;
  const [, name] = /^https?:\/\/json-schema\.org\/(draft[-/](?:2020-12|2019-09|0[47]))\/schema#?$/.exec($schema) ?? [];
  return name?.replace("draft/", "") as Dialect | undefined;
}

/** A direct subschema of a schema, and its position. */
interface Child {
  readonly schema: Subschema;
  readonly keyword: string;
  /** The name below `properties` and the like, or the index in a list; undefined for a keyword with one subschema. */
  readonly key: string | undefined;
  /** A JSON pointer relative to the parent. */
  readonly pointer: string;
}

/** Lists the direct subschemas of a schema, without following references. */
export function subschemasOf(schema: JsonSchema, dialect: Dialect): Child[] {
  const children: Child[] = [];
  const add = (subschema: unknown, keyword: string, key?: string): void => {
    if (!isObject(subschema) && typeof subschema !== "boolean") return;
    const pointer = pointerStep(keyword) + (key === undefined ? "" : pointerStep(key));
    children.push({ schema: subschema, keyword, key, pointer });
  };
  const keywords = keywordsOf(dialect);
  for (const [keyword, value] of Object.entries(schema)) {
    switch (Object.hasOwn(keywords, keyword) && keywords[keyword]) {
      case "schema":
      case "schemaOrBoolean":
      case "items":
        add(value, keyword);
        break;
      case "schemas":
      case "schemaOrSchemas":
        if (Array.isArray(value)) value.forEach((subschema, index) => add(subschema, keyword, String(index)));
        else add(value, keyword);
        break;
      case "schemaMap":
      case "patternMap":
      case "dependencies":
        if (isObject(value)) for (const [key, subschema] of Object.entries(value)) add(subschema, keyword, key);
        break;
      default:
    }
  }
  return children;
}
