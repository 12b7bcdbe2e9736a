import { type JsonSchema, pointerStep } from "../schema.ts";
import { isObject } from "../../rpc/messages.ts";
import { type Dialect, keywordsOf } from "./keywords.ts";

/** A direct subschema. */
export interface Subschema {
  readonly schema: JsonSchema | boolean;
  readonly keyword: string;
  /** The name below `properties` and the like, or the index in a list; undefined for a keyword with one subschema. */
  readonly key: string | undefined;
  /** A JSON pointer relative to the parent. */
  readonly pointer: string;
}

/** Lists the direct subschemas of a schema, without following references. */
export function subschemasOf(schema: JsonSchema, dialect: Dialect): Subschema[] {
  const found: Subschema[] = [];
  const add = (below: unknown, keyword: string, key?: string): void => {
    if (!isObject(below) && typeof below !== "boolean") return;
    const pointer = pointerStep(keyword) + (key === undefined ? "" : pointerStep(key));
    found.push({ schema: below, keyword, key, pointer });
  };
  for (const [keyword, value] of Object.entries(schema)) {
    switch (Object.hasOwn(keywordsOf[dialect], keyword) && keywordsOf[dialect][keyword]) {
      case "schema":
      case "schemaOrBoolean":
      case "items":
        add(value, keyword);
        break;
      case "schemas":
      case "schemaOrSchemas":
        if (Array.isArray(value)) value.forEach((below, index) => add(below, keyword, String(index)));
        else add(value, keyword);
        break;
      case "schemaMap":
      case "patternMap":
      case "dependencies":
        if (isObject(value)) for (const [key, below] of Object.entries(value)) add(below, keyword, key);
        break;
      default:
    }
  }
  return found;
}
