import fc from "fast-check";
import { expect } from "vitest";
import { openClient } from "../../packages/mcparley/src/client/open-client.ts";
import { serverTransports } from "../../packages/mcparley/src/client/connect/transports.ts";
import { LocalError, ProtocolError } from "../../packages/mcparley/src/rpc/errors.ts";
import { ToolError } from "../../packages/mcparley/src/mcp/errors.ts";
import { checkBudget } from "../../packages/mcparley/src/schema/budget.ts";
import { compileJsonSchema } from "../support/compile-json-schema.ts";
import { preparePeerSchema } from "../../packages/mcparley/src/schema/validation/peer-schema.ts";
import { type JsonSchema, SchemaError, type Validator } from "../../packages/mcparley/src/schema/schema.ts";
import { tool } from "../../packages/mcparley/src/server/definition.ts";
import { createServer } from "../../packages/mcparley/src/server/create-server.ts";
import { modernPeer, peerTransports } from "../../packages/mcparley/src/testing/peer-transports.ts";
import { hostileSchema, hostileValue } from "./arbitraries/hostile-schemas.ts";
import { jsonValue } from "./arbitraries/messages.ts";
import { holds } from "./holds.ts";
import { onlyOwnErrors } from "./own-errors.ts";

/** Reads of a value that one step may pay for, on average: a lookup of each keyword, and of a name in `required`. */
const READS_PER_STEP = 4;

/** Returns a copy of a value that counts the reads of its members. */
function counted(value: unknown, count: () => void): unknown {
  if (typeof value !== "object" || value === null) return value;
  const inside = Object.entries(value).map(([key, item]) => [key, counted(item, count)] as const);
  const copy: object = Array.isArray(value) ? inside.map(([, item]) => item) : Object.fromEntries(inside);
  return new Proxy(copy, {
    get: (target, key, receiver) => (count(), Reflect.get(target, key, receiver) as unknown),
    has: (target, key) => (count(), Reflect.has(target, key)),
    ownKeys: (target) => (count(), Reflect.ownKeys(target)),
    getOwnPropertyDescriptor: (target, key) => (count(), Reflect.getOwnPropertyDescriptor(target, key)),
  });
}

function compileOrSkip(schema: JsonSchema, steps: number): Validator | undefined {
  try {
    return compileJsonSchema(schema, { steps });
  } catch (error) {
    if (error instanceof SchemaError) return undefined;
    throw error;
  }
}

/** Native patterns may take exponential time; only those of a peer are generated to be evaluated here. */
function withoutPatterns(schema: JsonSchema): JsonSchema {
  return JSON.parse(JSON.stringify(schema).replaceAll('"pattern', '"x-pattern')) as JsonSchema;
}

holds(
  "validation: the work for a hostile value grows only with the budget of steps",
  fc.tuple(hostileSchema, hostileValue, fc.constantFrom(10, 1_000, 20_000)),
  ([schema, value, steps]) => {
    const validate = compileOrSkip(withoutPatterns(schema), steps);
    let reads = 0;
    const watched = counted(value, () => reads++);
    validate?.(watched);
    // Two passes, each with the budget.
    expect(reads).toBeLessThanOrEqual(2 * READS_PER_STEP * (steps + 100));
  },
  { weight: 2 },
);

holds(
  "validation: a smaller budget refuses more, and accepts nothing that a larger one refuses",
  fc.tuple(hostileSchema, hostileValue, fc.integer({ min: 1, max: 5_000 })),
  ([schema, value, steps]) => {
    const small = compileOrSkip(withoutPatterns(schema), steps)?.(value);
    const large = compileOrSkip(withoutPatterns(schema), 200_000)?.(value);
    if (small && !small.issues) expect(large?.issues).toBeUndefined();
    for (const { path, message } of small?.issues ?? []) {
      expect(message.length).toBeLessThanOrEqual(300);
      expect(path.length).toBeLessThanOrEqual(81 * 1_024);
    }
    expect(small?.issues?.length ?? 0).toBeLessThanOrEqual(20);
  },
);

holds(
  "validation: any schema of a peer validates any value, or is rejected with a SchemaError",
  fc.tuple(fc.oneof({ arbitrary: hostileSchema, weight: 3 }, fc.dictionary(fc.string(), jsonValue)), hostileValue),
  async ([schema, value]) => {
    const prepared = await onlyOwnErrors(() => preparePeerSchema(schema), SchemaError);
    if ("error" in prepared) return;
    const { issues } = prepared.value.validate(value);
    expect(issues?.length ?? 0).toBeLessThanOrEqual(20);
    expect(prepared.value.unchecked.length).toBeLessThanOrEqual(20);
  },
);

const alternatives = Array.from({ length: 30 }, (_, index) => ({
  type: "object",
  properties: { kind: { const: `k${index}` }, a: { $ref: "#/properties/list" } },
  required: ["kind", "b"],
}));
const hostileTools = {
  union: { properties: { list: { items: { oneOf: alternatives } } } },
  unique: { properties: { list: { uniqueItems: true, items: { $ref: "#/properties/list" } } } },
  recursive: {
    properties: { list: { anyOf: [{ items: { $ref: "#/properties/list" } }, { $ref: "#/$defs/b" }] } },
    $defs: {
      b: { properties: { a: { $ref: "#/properties/list" }, b: { $ref: "#/$defs/b" } }, unevaluatedProperties: false },
    },
  },
};
const server = createServer({
  name: "hostile",
  version: "1.0.0",
  tools: Object.fromEntries(
    Object.entries(hostileTools).map(([name, input]) => [
      name,
      tool({ input: { type: "object", ...input }, call: () => "ok" }),
    ]),
  ),
});

holds(
  "validation: a server answers a call with any hostile arguments",
  fc.tuple(fc.constantFrom(...Object.keys(hostileTools)), hostileValue),
  async ([name, list]) => {
    const client = await openClient(serverTransports(server));
    const called = await onlyOwnErrors(() => client.callTool(name, { list }), ToolError, ProtocolError);
    const isTooLarge = checkBudget({ list }) !== undefined;
    if ("error" in called) expect(called.error instanceof ProtocolError).toBe(isTooLarge);
    else expect(called.value).toBe("ok");
    await client.close();
  },
);

holds(
  "validation: a client settles a call whatever the server's output schema and result",
  fc.tuple(fc.oneof(hostileSchema, jsonValue), hostileValue),
  async ([outputSchema, structuredContent]) => {
    const listed = { name: "a", inputSchema: { type: "object" }, outputSchema };
    const result = { content: [], structuredContent };
    const peer = modernPeer({ answers: { "tools/list": () => ({ tools: [listed] }), "tools/call": () => result } });
    const client = await openClient(peerTransports(peer));
    await client.listTools().all();
    const called = await onlyOwnErrors(() => client.callTool("a"), LocalError);
    if ("error" in called) expect(called.error).toMatchObject({ code: "invalid_result" });
    else expect(called.value).toEqual(structuredContent);
    await client.close();
  },
);
