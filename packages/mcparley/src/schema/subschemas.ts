import { isObject, pointerStep } from "./schema.ts";

type Place = "one" | "list" | "map";

/**
 * The keywords that hold subschemas, of all supported dialects. In a "map" the next step down is a name of the
 * author's choosing, never a keyword: a property called "items" is not the keyword `items`.
 */
const places: Readonly<Record<Place, string>> = {
  one: "additionalItems additionalProperties contains contentSchema else if items not propertyNames then unevaluatedItems unevaluatedProperties",
  list: "allOf anyOf oneOf prefixItems",
  map: "$defs definitions dependencies dependentSchemas patternProperties properties",
};

const placeByKeyword: ReadonlyMap<string, Place> = new Map(
  (["one", "list", "map"] as const).flatMap((place) => places[place].split(" ").map((keyword) => [keyword, place])),
);

/** How `keyword` holds its subschemas, or undefined when it holds none. Before 2020-12 `items` may also be a list. */
export function placeOf(keyword: string, value: unknown): Place | undefined {
  return keyword === "items" && Array.isArray(value) ? "list" : placeByKeyword.get(keyword);
}

/** One subschema and how it is reached from its parent. */
export interface Subschema {
  readonly schema: unknown;
  readonly keyword: string;
  /** The property name, definition name or index below the keyword. */
  readonly key: string | undefined;
  /** A JSON pointer relative to the parent. */
  readonly pointer: string;
}

/** Lists the direct subschemas of a schema, without following references. */
export function subschemasOf(schema: object): Subschema[] {
  return Object.entries(schema).flatMap(([keyword, value]): Subschema[] => {
    const place = placeOf(keyword, value);
    const at = pointerStep(keyword);
    if (place === "one") return [{ schema: value, keyword, key: undefined, pointer: at }];
    const isHolder = place !== undefined && typeof value === "object" && value !== null;
    return isHolder
      ? Object.entries(value).map(([key, schema]) => ({ schema, keyword, key, pointer: at + pointerStep(key) }))
      : [];
  });
}

/** Tells a schema from the property names that `dependencies` may hold in its place. */
export function isSchema(value: unknown): boolean {
  return isObject(value) || typeof value === "boolean";
}
