import { expectTypeOf, test } from "vitest";
import type { JsonObject } from "../rpc/messages.ts";
import type { FromJsonSchema, ObjectFromJsonSchema } from "./infer-json-schema.ts";
import type { UriVariables } from "./uri-variables.ts";

test("a JSON Schema has the type of its values", () => {
  expectTypeOf<FromJsonSchema<{ type: "string" }>>().toEqualTypeOf<string>();
  expectTypeOf<FromJsonSchema<{ type: "integer" }>>().toEqualTypeOf<number>();
  expectTypeOf<FromJsonSchema<{ type: readonly ["string", "null"] }>>().toEqualTypeOf<string | null>();
  expectTypeOf<FromJsonSchema<{ enum: readonly ["a", 1, null] }>>().toEqualTypeOf<"a" | 1 | null>();
  expectTypeOf<FromJsonSchema<{ const: true }>>().toEqualTypeOf<true>();
  expectTypeOf<FromJsonSchema<{ type: "array"; items: { type: "boolean" } }>>().toEqualTypeOf<boolean[]>();
  expectTypeOf<FromJsonSchema<{ type: "array" }>>().toEqualTypeOf<unknown[]>();
  expectTypeOf<FromJsonSchema<{ anyOf: readonly [{ type: "string" }, { type: "number" }] }>>().toEqualTypeOf<
    string | number
  >();
  expectTypeOf<FromJsonSchema<true>>().toBeUnknown();
  expectTypeOf<FromJsonSchema<{ $ref: "#/$defs/a" }>>().toBeUnknown();
  expectTypeOf<FromJsonSchema<{ type: "object" }>>().toEqualTypeOf<JsonObject>();
  expectTypeOf<FromJsonSchema<{ type: "object"; additionalProperties: { type: "number" } }>>().toEqualTypeOf<
    Record<string, number>
  >();
});

test("the properties of an object are optional unless they are required", () => {
  interface Schema {
    readonly type: "object";
    readonly properties: { readonly a: { type: "string" }; readonly b: { type: "object"; properties: { c: true } } };
    readonly required: readonly ["a", "d"];
  }
  expectTypeOf<FromJsonSchema<Schema>>().toEqualTypeOf<{ a: string; b?: { c?: unknown }; d: unknown }>();
});

test("the schema of an object needs no type", () => {
  expectTypeOf<ObjectFromJsonSchema<{ properties: { a: { type: "string" } } }>>().toEqualTypeOf<{ a?: string }>();
  expectTypeOf<ObjectFromJsonSchema<Readonly<Record<string, unknown>>>>().toEqualTypeOf<JsonObject>();
});

test("each variable of a URI template has the type of its values", () => {
  expectTypeOf<UriVariables<"note://{id}">>().toEqualTypeOf<{ id: string }>();
  expectTypeOf<UriVariables<"note://{+path}">>().toEqualTypeOf<{ path: string }>();
  expectTypeOf<UriVariables<"note://{a,b}">>().toEqualTypeOf<{ a: string; b?: string }>();
  expectTypeOf<UriVariables<"note://{id:3}">>().toEqualTypeOf<{ id: string }>();
  expectTypeOf<UriVariables<"note://{list*}">>().toEqualTypeOf<{ list: string[] }>();
  expectTypeOf<UriVariables<"note:/{/seg*}">>().toEqualTypeOf<{ seg?: string[] }>();
  expectTypeOf<UriVariables<"note://a{/p}{;q}{.e}{#f}">>().toEqualTypeOf<{
    p?: string;
    q?: string;
    e?: string;
    f?: string;
  }>();
  expectTypeOf<UriVariables<"note://{id}{?q*,r}{&s}">>().toEqualTypeOf<{
    id: string;
    q?: string[];
    r?: string;
    s?: string;
  }>();
  expectTypeOf<UriVariables<"note://{id}{?id}">>().toEqualTypeOf<{ id: string }>();
  expectTypeOf<UriVariables<string>>().toEqualTypeOf<Record<string, string | string[] | undefined>>();
});
