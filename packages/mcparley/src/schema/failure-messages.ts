import type { OutputUnit, Schema } from "@cfworker/json-schema";
import { shorten } from "./schema.ts";

/** What to say of a failing keyword. "#" stands for its value in the schema. */
const messages: Readonly<Record<string, string>> = {
  type: "must be #",
  const: "must be #",
  enum: "must be one of #",
  minimum: "must be at least #",
  maximum: "must be at most #",
  exclusiveMinimum: "must be greater than #",
  exclusiveMaximum: "must be less than #",
  multipleOf: "must be a multiple of #",
  minLength: "must have at least # characters",
  maxLength: "must have at most # characters",
  minItems: "must have at least # items",
  maxItems: "must have at most # items",
  minProperties: "must have at least # properties",
  maxProperties: "must have at most # properties",
  pattern: "must match the pattern #",
  format: "must be a valid #",
  uniqueItems: "must not hold the same item twice",
  contains: "must hold an item that fits the schema under contains",
  minContains: "must hold at least # items that fit the schema under contains",
  maxContains: "must hold at most # items that fit the schema under contains",
  not: "must not fit the schema under not",
  anyOf: "must fit one of several alternatives",
};

/** The validator names properties only in its sentences. */
const namedMessages: readonly (readonly [sentence: RegExp, message: string])[] = [
  [/required property "(.*)"\.$/s, 'required property "#" is missing'],
  [/^Property name "(.*)" does/s, 'property name "#" is not allowed'],
  [/does not have "(.*)"\.$/s, 'property "#" is required beside the others'],
];

/** Says what a failing keyword expects, in words that follow the path of the value: `/age: must be at least 18`. */
export function describeFailure({ keyword, error }: OutputUnit, schema: Schema): string {
  const operand: unknown = schema[keyword];
  // Stands for a schema that was `false`.
  if (keyword === "not" && operand === true) return "is not allowed";
  for (const [sentence, message] of namedMessages) {
    const name = sentence.exec(error)?.[1];
    if (name !== undefined) return message.replace("#", () => shorten(name));
  }
  const message = messages[exclusiveInDraft4(keyword, schema)] ?? `does not fit ${keyword}`;
  return shorten(
    message.replace("#", () => toText(keyword, operand)),
    300,
  );
}

/** Draft-04 has its exclusive bounds as flags, and the validator reports those under the bound's own keyword. */
function exclusiveInDraft4(keyword: string, schema: Schema): string {
  const exclusive = keyword.replace(/^m/, "exclusiveM");
  return schema[exclusive] === true ? exclusive : keyword;
}

function toText(keyword: string, operand: unknown): string {
  if (keyword === "type") return [operand].flat().join(" or ");
  if (keyword === "enum") return (operand as unknown[]).map((value) => shorten(JSON.stringify(value))).join(", ");
  return shorten(keyword === "const" ? JSON.stringify(operand) : String(operand));
}
