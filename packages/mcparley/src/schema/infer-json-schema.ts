import type { JsonObject } from "../rpc/messages.ts";
import type { Flat } from "./uri-variables.ts";

/**
 * The type of the values that a JSON Schema accepts, for a schema whose type is known to the letter: one that is written in
 * the call of `tool`, or one that is declared `as const`.
 *
 * It knows `type`, `properties`, `required`, `items`, `additionalProperties`, `enum`, `const`, `anyOf` and `oneOf`. Other
 * keywords only restrict the value further. Where nothing is known, it is `unknown`, or any object for `type: "object"`.
 */
export type FromJsonSchema<S> = S extends { readonly const: infer V }
  ? V
  : S extends { readonly enum: readonly (infer V)[] }
    ? V
    : S extends { readonly type: infer T }
      ? T extends readonly (infer Each)[]
        ? OfType<Each, S>
        : OfType<T, S>
      : S extends { readonly anyOf: readonly (infer Each)[] } | { readonly oneOf: readonly (infer Each)[] }
        ? FromJsonSchema<Each>
        : S extends false
          ? never
          : unknown;

/** As `FromJsonSchema`, for the schema of an object: its `type` may be omitted. */
export type ObjectFromJsonSchema<S> = S extends { readonly type: unknown }
  ? unknown extends FromJsonSchema<S>
    ? JsonObject
    : FromJsonSchema<S>
  : S extends { readonly properties: object }
    ? FromObject<S>
    : unknown extends FromJsonSchema<S>
      ? JsonObject
      : FromJsonSchema<S>;

type OfType<T, S> = T extends "string"
  ? string
  : T extends "number" | "integer"
    ? number
    : T extends "boolean"
      ? boolean
      : T extends "null"
        ? null
        : T extends "array"
          ? FromItems<S>[]
          : T extends "object"
            ? FromObject<S>
            : unknown;

type FromItems<S> = S extends { readonly prefixItems: unknown }
  ? unknown
  : S extends { readonly items: readonly unknown[] }
    ? unknown
    : S extends { readonly items: infer Item }
      ? FromJsonSchema<Item>
      : unknown;

type FromObject<S> = S extends { readonly properties: infer P }
  ? FromProperties<P, S extends { readonly required: readonly (infer K)[] } ? K : never>
  : S extends { readonly required: readonly (infer K extends string)[] }
    ? Flat<{ [Name in K]: unknown } & JsonObject>
    : S extends { readonly additionalProperties: false }
      ? Record<string, never>
      : S extends { readonly additionalProperties: infer V extends object }
        ? Record<string, FromJsonSchema<V>>
        : JsonObject;

// A mapped type over `keyof P` would keep the declarations in `P`, which TypeScript 7 writes into declaration files.
type FromProperties<P, Required> = string extends keyof P
  ? JsonObject
  : Flat<
      { [K in Extract<keyof P, Required>]: FromJsonSchema<P[K]> } & {
        [K in Exclude<keyof P, Required>]?: FromJsonSchema<P[K]>;
      } & { [K in Exclude<Required, keyof P> & string]: unknown }
    >;
