import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import z3 from "zod/v3";
import { type RawPeer, modernMeta, openSession, rawPeer } from "mcparley-tests/support/raw-peer.ts";
import { supportedVersions } from "../../mcp/revisions/index.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import { createServer } from "../create-server.ts";
import { prompt } from "../definition.ts";

const meta = modernMeta("2026-07-28");
const named = { name: "x", version: "1" };

/** A server with one prompt, whose message is the JSON of its arguments. */
async function serve(args: unknown, more: object = {}): Promise<RawPeer> {
  const echo = prompt({ arguments: args as never, get: (values) => JSON.stringify(values ?? null), ...more });
  return rawPeer(createServer({ ...named, prompts: { echo } }), { meta });
}

async function get(peer: RawPeer, args?: JsonObject): Promise<unknown> {
  const { result, error } = await peer.request("prompts/get", { name: "echo", ...(args && { arguments: args }) });
  if (error) return { code: error.code, message: error.message, data: error.data };
  const [message] = result.messages as { content: { text: string } }[];
  return JSON.parse(message?.content.text ?? "");
}

async function listed(peer: RawPeer): Promise<unknown> {
  return ((await peer.request("prompts/list")).result.prompts as JsonObject[])[0]?.arguments;
}

const invalid = (...names: string[]): object => ({
  code: -32602,
  message: expect.stringContaining(`/${names[0]}: `) as string,
  data: { invalid: names },
});
const missing = (...names: string[]): object => ({
  code: -32602,
  message: `The prompt echo needs the argument ${names.join(", ")}.`,
  data: { missing: names },
});

const forms: [name: string, args: unknown][] = [
  [
    "a shape of zod",
    {
      code: z.string().describe("The code").meta({ title: "Code" }),
      n: z.number().int().min(1),
      loud: z.boolean().optional(),
      level: z.enum(["low", "high"]).default("low"),
    },
  ],
  [
    "an object of zod",
    z.object({
      code: z.string().describe("The code").meta({ title: "Code" }),
      n: z.number().int().min(1),
      loud: z.boolean().optional(),
      level: z.enum(["low", "high"]).default("low"),
    }),
  ],
  [
    "an object of valibot",
    toStandardJsonSchema(
      v.object({
        code: v.pipe(v.string(), v.title("Code"), v.description("The code")),
        n: v.pipe(v.number(), v.integer(), v.minValue(1)),
        loud: v.optional(v.boolean()),
        level: v.optional(v.picklist(["low", "high"]), "low"),
      }),
    ),
  ],
  [
    "schemas beside options",
    {
      code: { title: "Code", description: "The code", schema: z.string() },
      n: { schema: z.number().int().min(1) },
      loud: z.boolean().optional(),
      level: { schema: z.enum(["low", "high"]).default("low") },
    },
  ],
];

describe.each(forms)("%s", (_, args) => {
  test("is listed with its names, descriptions and required arguments", async () => {
    expect(await listed(await serve(args))).toEqual([
      { name: "code", title: "Code", description: "The code", required: true },
      { name: "n", required: true },
      { name: "loud" },
      { name: "level" },
    ]);
  });

  test("converts the texts and fills in defaults", async () => {
    const peer = await serve(args);
    expect(await get(peer, { code: "5", n: "3" })).toEqual({ code: "5", n: 3, level: "low" });
    expect(await get(peer, { code: "", n: "3", loud: "false", level: "high" })).toEqual({
      code: "",
      n: 3,
      loud: false,
      level: "high",
    });
  });

  test("refuses missing arguments before the handler runs", async () => {
    const peer = await serve(args);
    expect(await get(peer)).toEqual(missing("code", "n"));
    expect(await get(peer, { code: "x" })).toEqual(missing("n"));
    expect(await get(peer, { code: "x", n: "" })).toEqual(missing("n"));
  });

  test.each([
    ["n", "three"],
    ["n", "1.5"],
    ["n", "0"],
    ["n", "true"],
    ["loud", "yes"],
    ["loud", "1"],
    ["level", "middle"],
  ])("refuses the value of %s in %s, and names it", async (name, text) => {
    expect(await get(await serve(args), { code: "x", n: "1", [name]: text })).toMatchObject(invalid(name));
  });

  test("suggests the values of choices", async () => {
    const peer = await serve(args);
    const ref = { type: "ref/prompt", name: "echo" };
    const complete = async (name: string, value: string) =>
      (await peer.request("completion/complete", { ref, argument: { name, value } })).result.completion;
    expect(await complete("level", "h")).toEqual({ values: ["high"], total: 1, hasMore: false });
    expect(await complete("code", "h")).toEqual({ values: [], total: 0, hasMore: false });
    expect((await peer.request("server/discover")).result.capabilities).toHaveProperty("completions");
  });
});

test("an object of arktype is listed, converted and validated", async () => {
  const peer = await serve(type({ code: "string", "n?": "number", level: "'low'|'high'" }));
  expect(await listed(peer)).toEqual([
    { name: "code", required: true },
    { name: "level", required: true },
    { name: "n" },
  ]);
  expect(await get(peer, { code: "x", level: "low", n: "2" })).toEqual({ code: "x", level: "low", n: 2 });
  expect(await get(peer, { code: "x", level: "middle" })).toMatchObject(invalid("level"));
});

describe("a JSON Schema", () => {
  const schema = {
    type: "object",
    properties: {
      code: { type: "string", title: "Code", description: "The code", minLength: 2 },
      n: { type: "integer" },
      level: { $ref: "#/$defs/level" },
    },
    required: ["code"],
    $defs: { level: { enum: ["low", "high"] } },
  };

  test("is listed and validated", async () => {
    const peer = await serve(schema);
    expect(await listed(peer)).toEqual([
      { name: "code", title: "Code", description: "The code", required: true },
      { name: "n" },
      { name: "level" },
    ]);
    expect(await get(peer, { code: "ab", n: "2", level: "low" })).toEqual({ code: "ab", n: 2, level: "low" });
    expect(await get(peer, { code: "a" })).toMatchObject(invalid("code"));
    expect(await get(peer, { code: "ab", n: "2.5" })).toMatchObject(invalid("n"));
    expect(await get(peer, { code: "ab", level: "middle" })).toMatchObject(invalid("level"));
  });

  test("decides about other arguments", async () => {
    const peer = await serve({ ...schema, additionalProperties: false });
    expect(await get(peer, { code: "ab", other: "x" })).toMatchObject({ code: -32602 });
    expect(await get(await serve(schema), { code: "ab", other: "x" })).toEqual({ code: "ab", other: "x" });
  });
});

describe("a text becomes the value that the schema names", () => {
  const recursive: z.ZodType = z.lazy(() => z.union([z.number(), z.array(recursive)]));
  test.each([
    ["a number with an exponent", z.number(), "-1.5e2", -150],
    ["a coerced number", z.coerce.number(), "7", 7],
    ["a coerced boolean", z.coerce.boolean(), "false", false],
    ["a number with a default", z.number().default(4), "5", 5],
    ["a number with a fallback", z.number().catch(4), "5", 5],
    ["null or a number", z.number().nullable(), "null", null],
    ["null or a text", z.string().nullable(), "null", "null"],
    ["a list", z.array(z.number()), "[1,2]", [1, 2]],
    ["an object", z.object({ a: z.number() }), '{"a":1}', { a: 1 }],
    ["a number or a choice", z.union([z.number(), z.literal("all")]), "all", "all"],
    ["a number or a choice, as a number", z.union([z.number(), z.literal("all")]), "3", 3],
    ["a number or any text", z.union([z.number(), z.string()]), "3", "3"],
    ["choices of numbers", z.literal([1, 2]), "2", 2],
    ["one value", z.literal(5), "5", 5],
    ["an intersection", z.number().and(z.number().min(2)), "3", 3],
    ["anything", z.any(), "3", "3"],
    ["a text that the schema converts", z.string().transform(Number), "3", 3],
    ["a text of digits", z.string().regex(/^\d+$/), "007", "007"],
    ["a date as text", z.iso.date(), "2026-07-28", "2026-07-28"],
    ["a recursive schema", recursive, "[1,[2]]", [1, [2]]],
    ["a named schema", z.number().meta({ id: "Level" }), "3", 3],
  ])("%s", async (_, schema, text, value) => {
    expect(await get(await serve({ a: schema }), { a: text })).toEqual({ a: value });
    expect(await get(await serve(z.object({ a: schema })), { a: text })).toEqual({ a: value });
  });

  test.each([
    ["a number", z.number(), ["", " ", "x", "1,5", "0x10", "NaN", "Infinity", "[1]", "null", '"1"']],
    ["a boolean", z.boolean(), ["yes", "True", "0", "null", '"true"']],
    ["a list", z.array(z.string()), ["a,b", "{}", "[1]", "["]],
    ["a list with a number in text", z.array(z.number()), ['["1"]']],
    ["an object", z.object({ a: z.number() }), ["[]", "null", '{"a":"1"}']],
  ])("and a text that is not %s is refused", async (_, schema, texts) => {
    const peer = await serve({ a: schema });
    for (const text of texts) {
      const refused = await get(peer, { a: text });
      expect([text, refused]).toMatchObject([text, { code: -32602, message: expect.stringContaining("a") }]);
      expect(JSON.stringify(refused)).toMatch(/"(invalid|missing)":\["a"\]/);
    }
  });

  test("an empty text of an optional argument is a missing value, unless the schema accepts text", async () => {
    const peer = await serve({
      n: z.number().optional(),
      level: z.enum(["low"]).default("low"),
      word: z.string().optional(),
    });
    expect(await get(peer, { n: "", level: "", word: "" })).toEqual({ level: "low", word: "" });
  });

  test("of a schema that refers to itself alone stays text", async () => {
    const schema = {
      type: "object",
      properties: { a: { $ref: "#/$defs/a" } },
      $defs: { a: { anyOf: [{ $ref: "#/$defs/a" }] } },
    };
    expect(await get(await serve(schema), { a: "3" })).toMatchObject({ code: expect.any(Number) });
  });
});

describe("limits", () => {
  const nested = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);

  test("of depth apply to the value of a text", async () => {
    const peer = await serve({ a: z.array(z.any()) });
    expect(await get(peer, { a: nested(64) })).toHaveProperty("a");
    expect(await get(peer, { a: nested(65) })).toMatchObject({
      code: -32602,
      message: expect.stringContaining("params.arguments.a: "),
    });
    expect(await get(peer, { a: nested(100_000) })).toMatchObject({ code: -32602 });
  });
});

test("an asynchronous schema is validated", async () => {
  const even = z.string().refine(async (text) => text.length % 2 === 0, "must be even");
  const peer = await serve({ a: even, b: z.number().optional() });
  expect(await listed(peer)).toEqual([{ name: "a", required: true }, { name: "b" }]);
  expect(await get(peer, { a: "ab", b: "1" })).toEqual({ a: "ab", b: 1 });
  expect(await get(peer, { a: "abc" })).toMatchObject(invalid("a"));
});

test("a schema whose function throws for a missing value is of a required argument", async () => {
  const upper = z.any().transform((text: string) => text.toUpperCase());
  const peer = await serve({ a: upper });
  expect(await listed(peer)).toEqual([{ name: "a", required: true }]);
  expect(await get(peer, { a: "x" })).toEqual({ a: "X" });
});

test("options and schemas can be mixed, and other arguments are left out", async () => {
  const peer = await serve({ code: { required: true }, style: {}, n: z.number().default(1) });
  expect(await get(peer, { code: "x", other: "y" })).toEqual({ code: "x", n: 1 });
  expect(await get(peer, { style: "y" })).toEqual(missing("code"));
});

test("suggestions of an argument with a schema have precedence over its choices", async () => {
  const peer = await serve({ level: { schema: z.enum(["low", "high"]), complete: (typed: string) => [`${typed}!`] } });
  const params = { ref: { type: "ref/prompt", name: "echo" }, argument: { name: "level", value: "h" } };
  expect((await peer.request("completion/complete", params)).result.completion).toMatchObject({ values: ["h!"] });
});

test.each(["__proto__", "constructor", "toString", "a/b", "~"])("an argument can be named %s", async (name) => {
  const shape = Object.fromEntries([[name, z.number()]]);
  const peer = await serve(shape);
  expect(await listed(peer)).toEqual([{ name, required: true }]);
  expect(await get(peer)).toEqual(missing(name));
  const values = (await get(peer, Object.fromEntries([[name, "2"]]))) as object;
  expect(Object.entries(values)).toEqual([[name, 2]]);
  expect(await get(peer, Object.fromEntries([[name, "x"]]))).toMatchObject({ data: { invalid: [name] } });
});

test.each(supportedVersions.filter((version) => version !== "2026-07-28"))(
  "arguments are listed and validated on %s",
  async (version) => {
    const echo = prompt({ arguments: { n: z.number().describe("A number") }, get: ({ n }) => String(n + 1) });
    const peer = await rawPeer(createServer({ ...named, prompts: { echo } }));
    await openSession(peer, version);
    expect(await listed(peer)).toEqual([{ name: "n", description: "A number", required: true }]);
    const call = (n: string) => peer.request("prompts/get", { name: "echo", arguments: { n } });
    expect((await call("1")).result.messages).toMatchObject([{ content: { text: "2" } }]);
    expect((await call("x")).error).toMatchObject({ code: -32602, data: { invalid: ["n"] } });
  },
);

describe("a definition is refused", () => {
  const refusal = (args: unknown): string => {
    try {
      createServer({ ...named, prompts: { p: prompt({ arguments: args as never, get: () => "" }) } });
    } catch (error) {
      return (error as Error).message;
    }
    throw new Error("The definition was accepted.");
  };
  // zod before 3.24 has no member "~standard".
  const oldSchema = { _def: { typeName: "ZodObject" }, parse: () => ({}) };

  const completable = Object.defineProperty(z.string(), Symbol.for("mcp.completable"), {
    value: { complete: () => [] },
  });

  test.each([
    ["a list", [{ name: "code" }], "z.object({ name: z.string() })"],
    ["a list of names", ["code"], "{ name: { required: true } }"],
    ["a text", "code", "z.object({ name: z.string() })"],
    ["a schema of no object", z.string(), "must be of an object with properties"],
    ["a schema of any record", z.record(z.string(), z.string()), "must be of an object with properties"],
    ["a JSON Schema without properties", { type: "object" }, "must be of an object with properties"],
    ["an argument that is a text", { code: "The code" }, '"arguments.code" must be an object'],
    ["an argument that is null", { code: null }, '"arguments.code" must be an object'],
    [
      "an unknown option",
      { code: { requierd: true } },
      '"arguments.code" has the unknown member "requierd"; did you mean "required"?',
    ],
    ["a JSON Schema of one argument", { n: { type: "number" } }, 'use "schema" instead of "type"'],
    ["a JSON Schema as schema", { n: { schema: { type: "number" } } }, "must be one of a library"],
    [
      "required beside a schema",
      { n: { schema: z.number(), required: true } },
      'leave "required" of the argument "n" out',
    ],
    [
      "suggestions that are a text",
      { code: { complete: "a" } },
      '"arguments.code.complete" must be a list of texts or a function',
    ],
    ["suggestions that are numbers", { code: { complete: [1] } }, '"arguments.code.complete" must be a list'],
    ["a shape of zod 3", { n: z3.number() }, 'The argument "n" cannot be offered: Cannot convert this zod schema'],
    ["an object of zod 3", z3.object({ n: z3.number() }), "Cannot convert this zod schema"],
    ["a schema of zod 3 without Standard Schema", oldSchema, "use zod 4.2"],
    ["a shape with such a schema", { n: oldSchema }, "use zod 4.2"],
    ["completable() of the official SDK", { code: completable }, 'write "code" as { schema, complete }'],
    ["a date", { at: z.date() }, 'The argument "at" cannot be offered: Cannot convert this zod schema'],
  ])("with %s", (_, args, message) => {
    const refused = refusal(args);
    expect(refused).toContain('The prompt "p" cannot be offered: ');
    expect(refused).toContain(message);
  });
});
