import { ignoredKeyword, schemaArrayKeyword, schemaKeyword, schemaMapKeyword } from "@cfworker/json-schema";
import { isObject, pointerStep } from "./schema.ts";

/** A place for one subschema. What is there may turn out to be no schema at all. */
export interface Place {
  /** The object or array that holds the subschema, at `key`. */
  readonly holder: Record<string, unknown>;
  readonly key: string;
  readonly keyword: string;
  /** A JSON pointer relative to the parent. */
  readonly pointer: string;
}

const maps: Record<string, boolean> = { ...schemaMapKeyword, dependencies: true };
const keywords: Record<string, boolean> = { ...schemaKeyword, ...schemaArrayKeyword, ...maps };

/**
 * Lists the places of a schema's direct subschemas, without following references.
 *
 * Below `properties` and the like, the next step is a name of the author's choosing and never a keyword. An object
 * under an unknown keyword may be the target of a reference, so it counts as a schema; data, as in `enum`, does not.
 */
export function subschemasOf(schema: Readonly<Record<string, unknown>>): Place[] {
  const places: Place[] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    const pointer = pointerStep(keyword);
    const isHolder = isObject(value) ? maps[keyword] : Array.isArray(value) && schemaArrayKeyword[keyword];
    const holder = (isHolder ? value : schema) as Record<string, unknown>;
    if (isHolder) {
      for (const key of Object.keys(holder)) places.push({ holder, key, keyword, pointer: pointer + pointerStep(key) });
    } else if (isObject(value) ? !ignoredKeyword[keyword] : keywords[keyword]) {
      places.push({ holder, key: keyword, keyword, pointer });
    }
  }
  return places;
}
