import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { compileSchema } from "./compile-schema.ts";
import { type JsonSchema, SchemaError } from "../schema.ts";
import { type SchemaTypes, type StandardSchema, isStandardSchema } from "../standard-schema.ts";

const zodUser = z.object({ name: z.string(), age: z.number().default(18) });
const arkUser = type({ name: "string", age: "number = 18" });
const valibotUser = toStandardJsonSchema(v.object({ name: v.string(), age: v.optional(v.number(), 18) }));

const failure = (run: () => unknown): SchemaError => {
  try {
    run();
  } catch (error) {
    if (error instanceof SchemaError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
};

/** A schema that belongs to no library. */
const handmade = (validate: StandardSchema["~standard"]["validate"], vendor = "handmade"): StandardSchema => ({
  "~standard": { version: 1, vendor, validate, jsonSchema: { input: () => ({}), output: () => ({}) } },
});

describe.each([
  ["zod", zodUser, ["age", "name"]],
  ["ArkType", arkUser, ["age", "name"]],
  // The output schema does not list the member with a default as required.
  ["valibot", valibotUser, ["name"]],
])("%s", (_, schema, required) => {
  test("is recognised and assignable", () => {
    expect(isStandardSchema(schema)).toBe(true);
    const structural: StandardSchema = schema;
    expect(structural["~standard"].version).toBe(1);
  });

  test("a schema of a library parses input, and fills in defaults", async () => {
    const { json, validate } = compileSchema(schema, "input");
    expect(await validate({ name: "Ada" })).toEqual({ value: { name: "Ada", age: 18 } });
    expect(json).toMatchObject({ type: "object", properties: { name: { type: "string" } }, required: ["name"] });
    expect(json).not.toHaveProperty("$schema");
  });

  test("output has a separate JSON Schema", async () => {
    const { json, validate } = compileSchema(schema, "output");
    expect(json).not.toHaveProperty("$schema");
    expect((json["required"] as string[]).toSorted()).toEqual(required);
    expect(await validate({ name: "Ada", age: 36 })).toEqual({ value: { name: "Ada", age: 36 } });
  });

  test("issues have JSON pointers", async () => {
    const { issues } = await compileSchema(schema, "input").validate({ name: 1 });
    expect(issues).toHaveLength(1);
    expect(issues?.[0]?.path).toBe("/name");
    expect(issues?.[0]?.message).toMatch(/string/);
  });

  test("is compiled once for each direction", () => {
    expect(compileSchema(schema, "input")).toBe(compileSchema(schema, "input"));
    expect(compileSchema(schema, "input")).not.toBe(compileSchema(schema, "output"));
  });
});

test("types are inferred from the schema alone", () => {
  expectTypeOf<SchemaTypes<typeof zodUser>["input"]>().toEqualTypeOf<{ name: string; age?: number | undefined }>();
  expectTypeOf<SchemaTypes<typeof zodUser>["output"]>().toEqualTypeOf<{ name: string; age: number }>();
  expectTypeOf<SchemaTypes<typeof arkUser>["input"]>().toEqualTypeOf<{ name: string; age?: number }>();
  expectTypeOf<SchemaTypes<typeof arkUser>["output"]>().toEqualTypeOf<{ name: string; age: number }>();
  expectTypeOf<SchemaTypes<typeof valibotUser>["output"]>().toEqualTypeOf<{ name: string; age: number }>();
});

test.each([
  undefined,
  null,
  1,
  "~standard",
  {},
  { "~standard": {} },
  { "~standard": { version: 2, validate: () => 1 } },
  () => 1,
  { type: "object" },
])("%j is no Standard Schema", (value) => {
  expect(isStandardSchema(value)).toBe(false);
});

describe("a schema that has no JSON Schema is refused with a cure", () => {
  test("plain valibot", () => {
    const error = failure(() => compileSchema(v.object({ a: v.string() }), "input"));
    expect(error.code).toBe("no_json_schema");
    expect(error.message).toMatch(/valibot.*toStandardJsonSchema.*@valibot\/to-json-schema/);
  });

  test("an old or unknown library", () => {
    const old = { "~standard": { version: 1 as const, vendor: "zod", validate: (value: unknown) => ({ value }) } };
    expect(failure(() => compileSchema(old, "input"))).toMatchObject({
      code: "no_json_schema",
      message: expect.stringMatching(/^Cannot convert this zod schema .*use zod 4\.2/) as string,
    });
  });

  test.each<[string, z.ZodType, string]>([
    ["a member", z.object({ a: z.string(), at: z.date() }), ' at "at": Date'],
    ["a member of a member", z.object({ user: z.object({ born: z.date() }) }), ' at "user.born": Date'],
    ["an optional member", z.object({ at: z.date().optional().describe("x") }), ' at "at": Date'],
    ["an item", z.object({ dates: z.array(z.date()) }), ' at "dates[]": Date'],
    ["a member of an item", z.object({ list: z.array(z.object({ big: z.bigint() })) }), ' at "list[].big": BigInt'],
    ["an item of a tuple", z.object({ pair: z.tuple([z.string(), z.set(z.string())]) }), ' at "pair[1]": Set'],
    ["a value of a record", z.object({ all: z.record(z.string(), z.symbol()) }), ' at "all[key]": Symbol'],
    ["an alternative", z.object({ id: z.union([z.string(), z.map(z.string(), z.string())]) }), ' at "id": Map'],
    [
      "a part of an intersection",
      z.intersection(z.object({ a: z.string() }), z.object({ b: z.nan() })),
      ' at "b": NaN',
    ],
    ["a lazy member", z.object({ next: z.lazy(() => z.object({ at: z.date() })) }), ' at "next.at": Date'],
    ["a class", z.object({ file: z.instanceof(URL) }), ' at "file": Custom'],
    ["a value without a member", z.date(), "JSON Schema: Date"],
  ])("a schema that the library cannot convert is refused with the path of %s", (_, schema, place) => {
    for (const direction of ["input", "output"] as const)
      expect(failure(() => compileSchema(schema, direction)).message).toContain(place);
  });

  test("a result that is transformed is refused with the path of its member", () => {
    const schema = z.object({ size: z.string().transform((text) => text.length) });
    expect(compileSchema(schema, "input").json).toMatchObject({ properties: { size: { type: "string" } } });
    expect(failure(() => compileSchema(schema, "output")).message).toContain(' at "size": Transforms');
  });

  test("a schema that the library cannot convert", () => {
    const error = failure(() => compileSchema(z.object({ at: z.date() }), "input"));
    expect(error).toMatchObject({
      code: "no_json_schema",
      message: expect.stringContaining("Date cannot be represented") as string,
    });
    expect(error.cause).toBeInstanceOf(Error);
  });
});

describe("validation by a library", () => {
  test("paths may contain keys, numbers, symbols and segments", async () => {
    const schema = handmade(() => ({
      issues: [{ message: "bad", path: ["a/b", { key: "~" }, 0, Symbol("s")] }, { message: "all" }],
    }));
    expect(await compileSchema(schema, "input").validate(1)).toEqual({
      issues: [
        { path: "/a~1b/~0/0/Symbol(s)", message: "bad" },
        { path: "", message: "all" },
      ],
    });
  });

  test("returns at most 20 issues of at most 300 characters", async () => {
    const schema = handmade(() => ({ issues: Array.from({ length: 21 }, () => ({ message: "x".repeat(1000) })) }));
    const { issues = [] } = await compileSchema(schema, "input").validate(1);
    expect(issues).toHaveLength(20);
    expect(issues[0]?.message).toHaveLength(300);
  });

  /** Compiles a schema whose library accepts every value. Its JSON Schema accepts none and has `subschemas` subschemas. */
  const contradictory = (subschemas: number) => {
    const anyOf = Array.from({ length: subschemas - 1 }, () => ({ const: "never" }));
    const jsonSchema = { input: () => ({ anyOf }), output: () => ({ anyOf }) };
    const validate = (value: unknown) => ({ value });
    return compileSchema({ "~standard": { version: 1, vendor: "contradictory", validate, jsonSchema } }, "input");
  };

  test.each([
    [2, 1000],
    [50, 1000],
    [100, 500],
    [1000, 50],
  ])(
    "checks the JSON Schema of %i subschemas first if a value has more than %i elements",
    async (subschemas, limit) => {
      const { validate } = contradictory(subschemas);
      const elements = (length: number): unknown[] => Array.from({ length }, () => 0);
      expect(await validate(elements(limit))).toEqual({ value: elements(limit) });
      expect(await validate(elements(limit + 1))).toHaveProperty("issues");
    },
  );

  test("an asynchronous check stays asynchronous, and a synchronous one synchronous", async () => {
    const slow = compileSchema(
      handmade(async (value) => ({ value: [value] })),
      "input",
    ).validate(1);
    expect(slow).toBeInstanceOf(Promise);
    expect(await slow).toEqual({ value: [1] });
    expect(
      compileSchema(
        handmade((value) => ({ value })),
        "input",
      ).validate(1),
    ).toEqual({ value: 1 });
  });

  test("a transformed output is sent", async () => {
    const schema = z
      .object({ n: z.string().pipe(z.coerce.number()), extra: z.never().optional() })
      .pipe(z.object({ n: z.number() }));
    const { json, validate } = compileSchema(schema, "output");
    expect(await validate({ n: "7" })).toEqual({ value: { n: 7 } });
    expect(json).toMatchObject({ properties: { n: { type: "number" } } });
  });
});

describe("JSON Schema objects", () => {
  const schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: { at: { type: "string" } },
    required: ["at"],
    additionalProperties: false,
  } as const;

  test("are published as they were written, with the name of their dialect", () => {
    expect(compileSchema(schema, "input").json).toBe(schema);
    const draft7 = { $schema: "http://json-schema.org/draft-07/schema#", type: "object" };
    expect(compileSchema(draft7, "output").json).toBe(draft7);
  });

  test("input is checked", async () => {
    const { validate } = compileSchema(schema, "input");
    expect(await validate({ at: "x" })).toEqual({ value: { at: "x" } });
    expect(await validate({})).toEqual({
      issues: [{ path: "", message: 'must have the property "at"' }],
    });
  });

  test("output is checked in the form that it has as JSON", async () => {
    const { validate } = compileSchema(schema, "output");
    const plain = { at: "x" };
    expect(await validate(plain)).toHaveProperty("value", plain);
    expect(await validate({ at: new Date(0), more: undefined })).toEqual({ value: { at: "1970-01-01T00:00:00.000Z" } });
    expect(await validate({ at: undefined })).toEqual({
      issues: [{ path: "", message: 'must have the property "at"' }],
    });
    expect(validate({ at: 1n })).toEqual({
      issues: [{ path: "", message: expect.stringContaining("cannot be written as JSON") as string }],
    });
    expect(validate(undefined)).toEqual({
      issues: [{ path: "", message: expect.stringContaining("cannot be written as JSON") as string }],
    });
  });

  test("an invalid one is refused when it is compiled", () => {
    expect(failure(() => compileSchema({ $ref: "https://example.com" }, "input")).code).toBe("external_ref");
  });
});

describe("objects that are no schema", () => {
  const message = (schema: unknown): string => failure(() => compileSchema(schema as JsonSchema, "input")).message;

  test("refuses an object of schemas, and names the property and the cure", () => {
    expect(message({ a: z.number() })).toBe(
      'The schema is a plain object with a schema of zod at "a". Write the whole object as one schema of zod, as z.object({ a: ... }) is.',
    );
    expect(message({ title: v.string(), a: v.number() })).toContain('a schema of valibot at "title"');
    expect(message({ a: type("string") })).toContain('a schema of arktype at "a"');
    // A schema of zod before 3.24, which does not implement Standard Schema.
    const old = { _def: { typeName: "ZodString" }, safeParse: () => ({ success: true }) };
    expect(message({ a: old })).toContain("The schema is one of an old zod: use zod 4.2");
  });

  test("refuses the schema of a library inside a JSON Schema", () => {
    expect(message({ type: "object", properties: { a: z.string() } })).toContain(
      'has a schema of zod at "a"; write all of it with zod',
    );
  });

  test("refuses an object without any keyword", () => {
    expect(message({ a: "string", b: "number" })).toBe(
      'The schema has no JSON Schema keyword, only "a", "b". Write { type: "object", properties: { ... } }.',
    );
    const $schema = "http://json-schema.org/draft-04/schema#";
    expect(message({ $schema, const: 1 })).toContain('only "const"');
    expect(compileSchema({ $schema }, "input").json).toEqual({ $schema });
  });

  test("accepts an empty object, and one with a keyword among other members", () => {
    expect(compileSchema({}, "input").json).toEqual({});
    expect(compileSchema({ description: "Anything.", "x-mine": 1 }, "input").json).toHaveProperty("x-mine");
  });

  test.each([1, "string", true, null, [z.string()]])("refuses %j", (schema) => {
    expect(message(schema)).toMatch(/^The schema is .+, not an object\.$/);
  });
});

describe("large values", () => {
  /** Counts the calls of its validation. */
  const counting = (): { schema: StandardSchema; calls: () => number } => {
    let calls = 0;
    const { "~standard": standard } = z.object({ list: z.array(z.union([z.string(), z.null()])) });
    const validate: typeof standard.validate = (value) => {
      calls++;
      return standard.validate(value);
    };
    return { schema: { "~standard": { ...standard, validate } }, calls: () => calls };
  };
  const list = (length: number, item: unknown): unknown => ({ list: Array.from({ length }, () => item) });

  test("up to 1,000 values are checked by the library only", async () => {
    const { schema, calls } = counting();
    const { issues } = await compileSchema(schema, "input").validate(list(999, 1));
    expect(issues?.[0]?.message).toContain("Invalid input");
    expect(calls()).toBe(1);
  });

  test("more than 1,000 values are first checked against the published JSON Schema", async () => {
    const { schema, calls } = counting();
    const { issues } = await compileSchema(schema, "input").validate(list(1_000, 1));
    expect(issues?.[0]?.message).toBe("must be string or null, not number");
    expect(calls()).toBe(0);
    expect(await compileSchema(schema, "input").validate(list(1_000, null))).toHaveProperty("value");
    expect(calls()).toBe(1);
  });
});
