import { type JsonObject, isObject } from "../../rpc/messages.ts";
import { type JsonSchema, pointerStep } from "../schema.ts";
import { refuse, show } from "./copy-schema.ts";
import { type Dialect, type Shape, keywordsOf } from "./keywords.ts";
import { toRegExp } from "./patterns.ts";

/** The checks that depend on the dialect, or on whether the schema is that of a peer. */
interface Rules {
  isSchema(this: void, value: unknown): boolean;
  isPattern(this: void, value: unknown): boolean;
  /** Returns whether a value is a list of different strings. In draft-04 it must not be empty. */
  isStrings(this: void, value: unknown): boolean;
}

const anySchema = "a schema (an object, true or false)";
const typeNames: readonly unknown[] = ["array", "boolean", "integer", "null", "number", "object", "string"];
const isType = (value: unknown): boolean => typeNames.includes(value);

/** For each shape, the end of the sentence "It must be ...", and the check of a value. */
const shapes: Readonly<Record<Shape, readonly [form: string, fits: (value: unknown, rules: Rules) => boolean]>> = {
  schema: [anySchema, (value, { isSchema }) => isSchema(value)],
  schemaOrBoolean: [anySchema, (value) => isObject(value) || isBoolean(value)],
  items: [`${anySchema}; use prefixItems for a list`, (value, { isSchema }) => isSchema(value)],
  schemas: ["a list of schemas that is not empty", (value, { isSchema }) => isList(value, isSchema, 1)],
  schemaOrSchemas: [
    "a schema, or a list of schemas that is not empty",
    (value, { isSchema }) => isSchema(value) || isList(value, isSchema, 1),
  ],
  schemaMap: ["an object of schemas", (value, { isSchema }) => isMap(value, isSchema)],
  patternMap: [
    "an object of schemas with regular expressions as keys",
    (value, { isSchema, isPattern }) => isMap(value, isSchema) && Object.keys(value).every(isPattern),
  ],
  dependencies: [
    "an object of schemas or lists of names",
    (value, { isSchema, isStrings }) => isMap(value, (member) => isSchema(member) || isStrings(member)),
  ],
  stringsMap: ["an object of lists of different names", (value, { isStrings }) => isMap(value, isStrings)],
  strings: ["a list of different strings", (value, { isStrings }) => isStrings(value)],
  someStrings: ["a list of different strings that is not empty", (value, { isStrings }) => isStrings(value)],
  types: [
    `${typeNames.join(", ")}, or a list of these`,
    (value) => isType(value) || (isList(value, isType, 1) && isSet(value)),
  ],
  pattern: ["a regular expression", (value, { isPattern }) => isPattern(value)],
  name: [
    "a letter or _, then letters, digits, - . or _",
    (value) => isString(value) && /^[A-Za-z_][-A-Za-z0-9._]*$/.test(value),
  ],
  id: ["a URI without a fragment", (value) => isString(value) && /^[^#]*#?$/.test(value)],
  booleanMap: ["an object of booleans", (value) => isMap(value, isBoolean)],
  positive: ["a number greater than 0", (value) => typeof value === "number" && value > 0],
  count: ["an integer that is not negative", (value) => Number.isInteger(value) && Number(value) >= 0],
  list: ["a list", Array.isArray],
  set: ["a list of different values that is not empty", (value) => isList(value, () => true, 1) && isSet(value)],
  string: ["a string", isString],
  boolean: ["a boolean", isBoolean],
  flag: ["a boolean", isBoolean],
  number: ["a number", (value) => typeof value === "number"],
  anything: ["a value", () => true],
};

/** Throws a SchemaError if the value of a keyword has not the form that the meta-schema requires. */
export type CheckKeywords = (schema: JsonSchema, pointer: string) => void;

/** Returns the check of the subschemas of a document. With `anyPattern`, every string is accepted as a pattern. */
export function keywordCheck(dialect: Dialect, anyPattern: boolean): CheckKeywords {
  const keywords = keywordsOf(dialect);
  const isDraft04 = dialect === "draft-04";
  const rules: Rules = {
    isSchema: (value) => isObject(value) || (isBoolean(value) && !isDraft04),
    isPattern: (value) => isString(value) && (anyPattern || toRegExp(value) !== undefined),
    isStrings: (value) => isList(value, isString, isDraft04 ? 1 : 0) && isSet(value),
  };
  return (schema, pointer) => {
    for (const keyword of Object.keys(schema)) {
      const shape = Object.hasOwn(keywords, keyword) ? keywords[keyword] : undefined;
      if (!shape) continue;
      const [form, fits] = shapes[shape];
      // In draft-04, `exclusiveMinimum` is a flag that belongs to `minimum`.
      const boundKeyword = keyword.replace("exclusiveM", "m");
      const isAlone = shape === "flag" && schema[boundKeyword] === undefined;
      const isValid = fits(schema[keyword], rules);
      if (isValid && !isAlone) continue;
      const description = isValid ? `used with ${boundKeyword}` : form;
      const path = pointer + pointerStep(keyword);
      refuse("invalid_schema", `has ${show(schema[keyword])} at ${path}, which must be ${description}`);
    }
  };
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}

function isBoolean(value: unknown): value is boolean {
  return typeof value === "boolean";
}

function isList(value: unknown, fits: (item: unknown) => boolean, least: number): value is unknown[] {
  return Array.isArray(value) && value.length >= least && value.every((item) => fits(item));
}

function isMap(value: unknown, fits: (item: unknown) => boolean): value is JsonObject {
  return isObject(value) && Object.values(value).every((item) => fits(item));
}

/** Returns whether no primitive value occurs twice in a list. */
function isSet(values: readonly unknown[]): boolean {
  return new Set(values).size === values.length;
}
