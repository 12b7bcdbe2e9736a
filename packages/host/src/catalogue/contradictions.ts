import { isObject } from "@mcparley/internal/is-object";
import { withoutDeepLevels } from "../values/map-texts.ts";
import { type Keywords, type SchemaNode, addRemark, dropKeyword } from "./flatten-schema.ts";
import { mergeTypes, typesOf, valuesOfTypes } from "./json-schema-keywords.ts";

/**
 * Removes parts of a schema that no value can match, because providers refuse a schema whose values contradict its type. Removing a part
 * of a list changes nothing. If no part is left, the description names the values.
 */
export function removeContradictions(node: SchemaNode): void {
  const { keywords } = node;
  const type = keywords.get("type");
  const types = typesOf(type);
  if (Array.isArray(type)) keywords.set("type", types.length === 1 ? types[0] : types);
  for (const keyword of ["enum", "const"] as const) {
    const values = valuesOf(keywords, keyword);
    if (!values) continue;
    const matchingValues = [...new Set(types.length === 0 ? values : valuesOfTypes(values, types))];
    if (matchingValues.length === 0) {
      describeValues(keywords, values);
      dropKeyword(
        node,
        keyword,
        `\`${keyword}\` was removed, because no value of it has the type. The description names them.`,
      );
    } else if (keyword === "enum") keywords.set("enum", matchingValues);
  }
  for (const keyword of ["anyOf", "oneOf"]) {
    const branches: unknown = keywords.get(keyword);
    if (!Array.isArray(branches) || !branches.every((branch) => isNever(branch, keywords))) continue;
    dropKeyword(node, keyword, `\`${keyword}\` was removed, because no value matches one of its branches.`);
  }
}

function valuesOf(keywords: Keywords, keyword: "enum" | "const"): readonly unknown[] | undefined {
  const value = keywords.get(keyword);
  if (keyword === "enum") return Array.isArray(value) ? value : undefined;
  return keywords.has("const") ? [value] : undefined;
}

/** Adds the values that a schema can have to its description. */
export function describeValues(keywords: Keywords, values: readonly unknown[]): void {
  const names = values.slice(0, 30).map((value) => JSON.stringify(withoutDeepLevels(value)));
  addRemark(keywords, `Allowed values: ${names.join(", ")}${values.length > names.length ? ", ..." : ""}.`);
}

/**
 * Returns whether a schema obviously accepts nothing: `false`, `{ "not": {} }`, or values without the type. `siblings` are the keywords
 * beside the union whose branch it is.
 */
export function isNever(schema: unknown, siblings: Keywords): boolean {
  if (!isObject(schema)) return schema === false;
  const { not, type } = schema;
  if (Object.keys(schema).length === 1 && (not === true || (isObject(not) && Object.keys(not).length === 0)))
    return true;
  const [ownTypes, siblingTypes] = [typesOf(type), typesOf(siblings.get("type"))];
  const isTyped = ownTypes.length > 0 && siblingTypes.length > 0;
  const types = isTyped ? typesOf(mergeTypes(ownTypes, siblingTypes)) : [...ownTypes, ...siblingTypes];
  if (types.length === 0) return isTyped;
  const keywords = new Map(Object.entries(schema));
  const lists = [valuesOf(keywords, "enum"), valuesOf(keywords, "const"), valuesOf(siblings, "enum")];
  return lists.some((values) => values && values.length > 0 && valuesOfTypes(values, types).length === 0);
}
