import type { JsonObject } from "mcparley";

/** A schema that a server sends, with a value that is expensive to check against it. */
export interface HostileSchema {
  readonly property: JsonObject;
  readonly value: string | string[];
  /** Keywords beside `properties`. */
  readonly beside?: JsonObject;
  /** More properties of the value. */
  readonly more?: Record<string, string>;
}

/** With a backtracking engine, this text takes about 2^40 steps to fail against `^(a+)+$`. */
const nearMiss = `${"a".repeat(40)}!`;

export const hostileSchemas: Record<string, HostileSchema> = {
  pattern: { property: { type: "string", pattern: "^(a+)+$" }, value: nearMiss },
  patternProperties: {
    property: { type: "string" },
    value: "text",
    beside: { patternProperties: { "^(a+)+$": false } },
    more: { [nearMiss]: "text" },
  },
  "4,900 alternatives": {
    property: {
      type: "array",
      items: { anyOf: Array.from({ length: 4900 }, (_, n) => ({ type: "string", const: `alternative ${n}` })) },
    },
    value: Array.from({ length: 20_000 }, () => "alternative 4999"),
  },
  uniqueItems: {
    property: { type: "array", items: { type: "string" }, uniqueItems: true },
    value: [...Array.from({ length: 98_000 }, (_, n) => String(n)), "0"],
  },
};

export function schemaOf({ property, beside }: HostileSchema): JsonObject {
  return { type: "object", properties: { field: property }, ...beside };
}

export function valueOf({ value, more }: HostileSchema): Record<string, string | string[]> {
  return { field: value, ...more };
}
