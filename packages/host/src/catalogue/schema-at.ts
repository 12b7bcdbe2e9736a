import type { JsonObject } from "mcparley";
import { findTarget } from "./adaptation.ts";
import { isObject } from "@mcparley/internal/is-object";

/** Maximum number of schemas that are looked at for one place. */
const MAX_SCHEMAS = 500;

/**
 * Returns whether the schema names the type `string` at a place in a value. A place for which several schemas are possible
 * accepts text if one of them does.
 */
export function acceptsText(schema: JsonObject, path: readonly (string | number)[]): boolean {
  let budget = MAX_SCHEMAS;
  /** Returns the schemas that apply to the same value. */
  function expand(start: readonly unknown[]): readonly JsonObject[] {
    const found = new Set<JsonObject>();
    const waiting = [...start];
    while (waiting.length > 0 && budget-- > 0) {
      const next = waiting.pop();
      if (!isObject(next) || found.has(next)) continue;
      found.add(next);
      waiting.push(findTarget(schema, next["$ref"])?.schema);
      for (const keyword of ["allOf", "anyOf", "oneOf", "then", "else"]) {
        const branches = next[keyword];
        // A long list is cut, because the budget could not reach its end.
        waiting.push(...(Array.isArray(branches) ? branches.slice(0, MAX_SCHEMAS) : [branches]));
      }
    }
    return [...found];
  }
  let schemas = expand([schema]);
  for (const step of path) schemas = expand(schemas.map((found) => childAt(found, step)));
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
