import { expect } from "vitest";
import { z } from "zod";
import { type Client, type JsonObject, createServer, tool } from "../library.ts";
import { proves } from "../proves.ts";
import type { ScriptedServer } from "../../support/scripted-server.ts";
import { textOf } from "../world/subjects.ts";
import type { World } from "../world/world.ts";

const draft7 = "http://json-schema.org/draft-07/schema#";
const pair = (keyword: string, more: JsonObject = {}): JsonObject => ({
  ...more,
  type: "object",
  properties: { pair: { type: "array", [keyword]: [{ type: "string" }, { type: "number" }] } },
});

/** In draft 4 a limit is made exclusive by a word beside it. */
const above = (minimum: number): JsonObject => ({
  $schema: "http://json-schema.org/draft-04/schema#",
  type: "object",
  properties: { n: { type: "number", minimum, exclusiveMinimum: true } },
});

/** Whether a tool with this schema takes these arguments. */
async function takes(world: World, input: JsonObject, args: JsonObject): Promise<boolean> {
  const peer = await world.serve({ tools: { t: tool({ input, call: () => "taken" }) } });
  const answer = await peer.request("tools/call", { name: "t", arguments: args });
  return textOf(answer) === "taken";
}

/** Lists a tool with this output schema, and calls it with this value as its result. */
async function called(
  world: World,
  outputSchema: JsonObject,
  structuredContent: JsonObject,
  options: Parameters<World["connect"]>[0] = {},
): Promise<unknown> {
  const { client, server } = await world.connect(options);
  await list(client, server, outputSchema);
  const calling = client.callTool("t");
  calling.catch(() => {});
  server.answer(await server.request("tools/call"), { content: [], structuredContent });
  const listing = server.request("tools/list").then((request) => server.answer(request, listOf(outputSchema)));
  listing.catch(() => {});
  // A result that does not fit leads to one new listing.
  await Promise.race([calling.catch(() => {}), listing]);
  return calling;
}

async function list(client: Client, server: ScriptedServer, outputSchema: JsonObject): Promise<void> {
  const listing = client.listTools().all();
  server.answer(await server.request("tools/list"), listOf(outputSchema));
  await listing;
}

/** Expects that a client refuses an output schema with an error that has a text, and returns the result without a check. */
async function expectRefused(world: World, outputSchema: JsonObject, text: string): Promise<void> {
  const errors: string[] = [];
  const onError = ({ message }: Error): void => void errors.push(message);
  expect(await called(world, outputSchema, { a: 1 }, { onError })).toEqual({ a: 1 });
  expect(errors).toEqual([expect.stringContaining(text)]);
}

function listOf(outputSchema: JsonObject): JsonObject {
  return { tools: [{ name: "t", inputSchema: { type: "object" }, outputSchema }] };
}

function define(input: JsonObject): void {
  createServer({ name: "s", version: "1", tools: { t: tool({ input, call: () => "" }) } });
}

proves("json-schema.dialect.default", {
  async server(world) {
    expect(await takes(world, pair("prefixItems"), { pair: ["a", 1] })).toBe(true);
    expect(await takes(world, pair("prefixItems"), { pair: [1, "a"] })).toBe(false);
  },
  async client(world) {
    expect(await called(world, pair("prefixItems"), { pair: ["a", 1] })).toEqual({ pair: ["a", 1] });
    const wrong = called(world, pair("prefixItems"), { pair: [1, "a"] });
    await expect(wrong).rejects.toMatchObject({ code: "invalid_result" });
  },
});

proves("json-schema.dialect.explicit", async (world) => {
  const peer = await world.serve({ tools: { t: tool({ input: pair("items", { $schema: draft7 }), call: () => "" }) } });
  const { result } = await peer.request("tools/list");
  expect(result.tools).toMatchObject([{ inputSchema: { $schema: draft7 } }]);
});

proves("json-schema.dialect.respected", {
  async server(world) {
    // In draft 7 `items` holds what `prefixItems` holds today.
    expect(await takes(world, pair("items", { $schema: draft7 }), { pair: ["a", 1] })).toBe(true);
    expect(await takes(world, pair("items", { $schema: draft7 }), { pair: [1, "a"] })).toBe(false);
    expect(await takes(world, above(1), { n: 1 })).toBe(false);
    expect(await takes(world, above(1), { n: 2 })).toBe(true);
  },
  async client(world) {
    const wrong = called(world, pair("items", { $schema: draft7 }), { pair: [1, "a"] });
    await expect(wrong).rejects.toMatchObject({ code: "invalid_result" });
    await expect(called(world, above(1), { n: 1 })).rejects.toMatchObject({ code: "invalid_result" });
    expect(await called(world, above(1), { n: 2 })).toEqual({ n: 2 });
  },
});

const unheardOf = "https://example.com/dialects/unheard-of";

proves("json-schema.dialect.unsupported", {
  server() {
    expect(() => define({ $schema: unheardOf, type: "object" })).toThrow(unheardOf);
  },
  client: (world) => expectRefused(world, { $schema: unheardOf, type: "object" }, unheardOf),
});

proves("json-schema.dialect.recommended", async (world) => {
  const t = tool({ input: z.object({ pair: z.tuple([z.string(), z.number()]) }), call: () => "" });
  const peer = await world.serve({ tools: { t } });
  const { result } = await peer.request("tools/list");
  const [{ inputSchema }] = result.tools as [{ inputSchema: JsonObject }];
  expect([undefined, "https://json-schema.org/draft/2020-12/schema"]).toContain(inputSchema.$schema);
  expect(JSON.stringify(inputSchema)).toContain('"prefixItems"');
});

/** Property schemas that the meta-schema of every dialect forbids. */
const invalidProperties: unknown[] = [
  5,
  { anyOf: {} },
  { allOf: [] },
  { not: 5 },
  { type: "strng" },
  { type: [] },
  { type: ["string", "string"] },
  { type: null },
  { enum: "a" },
  { minimum: "x" },
  { minimum: Number.NaN },
  { multipleOf: 0 },
  { minLength: -1 },
  { maxItems: 1.5 },
  { uniqueItems: "yes" },
  { pattern: 5 },
  { pattern: "(" },
  { patternProperties: { "(": {} } },
  { format: 5 },
  { title: 5 },
  { items: 5 },
  { additionalProperties: "no" },
  { properties: null },
  { required: ["a", "a"] },
  { definitions: { a: { type: "strng" } } },
];

/** Places of a schema in which another schema stands. */
const nested: ((schema: unknown) => JsonObject)[] = [
  (a) => ({ properties: { a } }),
  (a) => ({ properties: { list: { type: "array", items: a } } }),
  (a) => ({ allOf: [{ properties: { a } }] }),
  (a) => ({ additionalProperties: { anyOf: [{ type: "string" }, a] } }),
];
const dialects = [
  undefined,
  draft7,
  "https://json-schema.org/draft/2019-09/schema",
  "http://json-schema.org/draft-04/schema#",
];

proves("json-schema.valid", async (world) => {
  const fine = tool({ call: () => "" });
  const peer = await world.serve({ tools: { fine } });
  for (const $schema of dialects) {
    for (const a of invalidProperties) {
      for (const place of nested) {
        const schema = { ...($schema && { $schema }), type: "object", ...place(a) };
        const shown = JSON.stringify(schema);
        expect(() => define(schema), shown).toThrow('tool "t"');
        const t = tool({ output: schema, call: () => ({}) });
        expect(() => createServer({ name: "s", version: "1", tools: { t } }), shown).toThrow('tool "t"');
        expect(() => world.server.tools.set("t", t), shown).toThrow('tool "t"');
      }
    }
  }
  expect(() => define({ type: "object", required: "a" })).toThrow('tool "t"');
  // A running server still offers its earlier tools.
  const { result } = await peer.request("tools/list");
  expect((result.tools as { name: string }[]).map(({ name }) => name)).toEqual(["fine"]);
  for (const place of nested) expect(() => define({ type: "object", ...place({ type: "string" }) })).not.toThrow();
});

const remote = { type: "object", properties: { a: { $ref: "https://schemas.invalid/a.json" } } };

/** Runs a function and fails if it sends a network request. */
async function offline(run: () => unknown): Promise<void> {
  const { fetch } = globalThis;
  const asked: unknown[] = [];
  globalThis.fetch = (input) => {
    asked.push(input);
    return Promise.reject(new Error("offline"));
  };
  try {
    await run();
  } finally {
    globalThis.fetch = fetch;
  }
  expect(asked).toEqual([]);
}

proves("json-schema.ref.not-fetched", {
  server: () => offline(() => expect(() => define(remote)).toThrow()),
  client: (world) => offline(() => expectRefused(world, remote, "https://schemas.invalid/a.json")),
});

proves("json-schema.ref.rejected", {
  server() {
    expect(() => define(remote)).toThrow("https://schemas.invalid/a.json");
    expect(() => define({ type: "object", properties: { a: { $ref: "#/$defs/none" } } })).toThrow("#/$defs/none");
  },
  client: (world) => expectRefused(world, remote, "https://schemas.invalid/a.json"),
});

/** A schema that is nested more deeply than anybody writes one. */
function deep(depth: number): JsonObject {
  let schema: JsonObject = { type: "object" };
  for (let level = 0; level < depth; level++) schema = { type: "object", properties: { a: schema } };
  return schema;
}

proves("json-schema.bounds", {
  server() {
    expect(() => define(deep(10))).not.toThrow();
    expect(() => define(deep(5_000))).toThrow("t");
  },
  client: (world) => expectRefused(world, deep(400), "levels"),
});
