import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../rpc/messages.ts";
import { modernPeer, peerTransports } from "../../testing/peer-transports.ts";
import { openClient } from "../open-client.ts";
import type { ElicitHandler } from "../options.ts";
import { watchEventLoop } from "mcparley-tests/support/watchdog.ts";

watchEventLoop(import.meta.filename);

/** Calls a tool whose output schema and result are those of a hostile server. */
async function result(
  outputSchema: unknown,
  structuredContent: unknown,
): Promise<{ outcome: unknown; errors: Error[] }> {
  const errors: Error[] = [];
  const listed = { name: "a", inputSchema: { type: "object" }, outputSchema };
  const answer = { content: [], structuredContent };
  const peer = modernPeer({ answers: { "tools/call": () => answer, "tools/list": () => ({ tools: [listed] }) } });
  const client = await openClient(peerTransports(peer), { onError: (error) => errors.push(error) });
  expect(await client.listTools().all()).toHaveLength(1);
  const outcome = await client.callTool("a").catch((error: unknown) => error);
  await client.close();
  return { outcome, errors };
}

const long = "a".repeat(50_000);
const record = (length: number, make: (index: number) => unknown): JsonObject =>
  Object.fromEntries(Array.from({ length }, (_, index) => [`${long.slice(0, 100)}${index}!`, make(index)]));

describe("results with the output schema of a hostile server", () => {
  test.each<[string, unknown, unknown]>([
    ["a pattern that takes exponential time natively", { pattern: "^(a+)+$" }, `${long}!`],
    [
      "such patterns for property names",
      { patternProperties: { "^(a+)+$": {} }, additionalProperties: false },
      record(100, () => 1),
    ],
    [
      "4,900 alternatives",
      { items: { anyOf: Array.from({ length: 4_900 }, (_, index) => ({ const: index })) } },
      [-1, -2],
    ],
    [
      "100,000 items that must be unique",
      { items: { uniqueItems: true } },
      [Array.from({ length: 100_000 }, (_, i) => ({ i })), [1, 1]],
    ],
    [
      "alternatives that double at each level",
      {
        $defs: { a: { properties: { a: { oneOf: [{ $ref: "#/$defs/a" }, { $ref: "#/$defs/a" }] } } } },
        $ref: "#/$defs/a",
      },
      Array.from({ length: 60 }).reduce((a) => ({ a }), {}),
    ],
    ["a value of 900 levels", { items: { $ref: "#" } }, Array.from({ length: 900 }).reduce((a) => [a], [])],
  ])("%s: the call fails with invalid_result", async (_, schema, value) => {
    const { outcome } = await result(schema, value);
    expect(outcome).toMatchObject({ code: "invalid_result" });
  });

  test("a pattern with look-around is reported once, and the result is returned", async () => {
    const { outcome, errors } = await result({ properties: { a: { pattern: "(?=x)y" } } }, { a: "b" });
    expect(outcome).toEqual({ a: "b" });
    expect(errors.map(({ message }) => message)).toEqual([
      'Results of the tool "a" are not fully checked against its output schema. The pattern (?=x)y cannot be evaluated in linear time.',
    ]);
  });

  test("a tool with an invalid output schema is listed and reported, and the result is returned", async () => {
    const { outcome, errors } = await result({ type: "strng" }, { a: 1 });
    expect(outcome).toEqual({ a: 1 });
    expect(errors).toHaveLength(1);
    expect(errors[0]?.message).toContain('has "strng" at #/type');
  });
});

describe("an output schema that cannot be used", () => {
  const deep = (levels: number): JsonObject =>
    Array.from({ length: levels }).reduce<JsonObject>((a) => ({ properties: { a } }), {});
  test.each<[string, unknown, string]>([
    ["an external reference", { $ref: "https://x.example/s" }, "https://x.example/s"],
    ["an external reference in a part", { properties: { a: { $ref: "other.json#/a" } } }, "other.json"],
    ["an external dynamic reference", { $dynamicRef: "https://x.example/s#a" }, "https://x.example/s"],
    ["an unknown dialect", { $schema: "https://x.example/d" }, "https://x.example/d"],
    ["an invalid keyword", { type: "strng" }, "strng"],
    ["a reference without a target", { $ref: "#/$defs/none" }, "#/$defs/none"],
    ["too many parts", { anyOf: Array.from({ length: 5_001 }, () => ({})) }, "5000 subschemas"],
    ["too many levels", deep(100_000), "levels"],
  ])("%s: the call succeeds, and the schema is reported once for the tool", async (_, outputSchema, reason) => {
    for (const answer of [{ content: [], structuredContent: { a: 1 } }, { content: [{ type: "text", text: "1" }] }]) {
      const errors: Error[] = [];
      const listed = ["a", "b"].map((name) => ({ name, inputSchema: { type: "object" }, outputSchema }));
      const peer = modernPeer({ answers: { "tools/call": () => answer, "tools/list": () => ({ tools: listed }) } });
      const client = await openClient(peerTransports(peer), { onError: (error) => errors.push(error) });
      for (let listing = 0; listing < 2; listing++) {
        await client.listTools({ fresh: true }).all();
        expect(await client.callToolResult("a")).toEqual(answer);
      }
      expect(errors.map(({ message }) => message)).toEqual([expect.stringContaining(reason)]);
      expect(errors[0]?.message).toContain('Results of the tool "a" are not checked against its output schema.');
      await client.callToolResult("b");
      expect(errors).toHaveLength(2);
      await client.close();
    }
  });
});

test("a tool whose input schema is nested 100,000 levels deep is listed and called", async () => {
  const inputSchema = Array.from({ length: 100_000 }).reduce<JsonObject>((a) => ({ properties: { a } }), {});
  const tools = [{ name: "a", inputSchema }];
  const peer = modernPeer({ answers: { "tools/list": () => ({ tools }), "tools/call": () => ({ content: [] }) } });
  const client = await openClient({ ...peerTransports(peer), kind: "http" });
  expect(await client.listTools().all()).toHaveLength(1);
  expect(await client.callTool("a")).toEqual([]);
  await client.close();
});

describe("an elicitation with the form of a hostile server", () => {
  async function answer(requestedSchema: unknown, elicit: ElicitHandler): Promise<JsonObject> {
    const peer = modernPeer();
    const client = await openClient(peerTransports(peer), { elicit });
    const calling = client.callTool("a").catch((error: unknown) => error);
    const first = await peer.request("tools/call");
    const params = { message: "?", requestedSchema };
    const inputRequests = { q: { method: "elicitation/create", params } };
    peer.answer(first, { resultType: "input_required", inputRequests, requestState: "s" });
    const outcome = await Promise.race([calling, peer.request("tools/call")]);
    await client.close();
    return outcome as JsonObject;
  }
  const schema = { type: "object", properties: { name: { type: "string", pattern: "^(a+)+$" } } };

  test("fails if the content does not match a pattern, in linear time", async () => {
    const outcome = await answer(schema, () => ({ action: "accept", content: { name: `${long}!` } }));
    expect(outcome).toMatchObject({ code: "invalid_result" });
    expect(outcome["message"]).toContain("/name: must match the pattern");
  });

  test("passes the content to the handler for validation before it is sent", async () => {
    const seen: unknown[] = [];
    const outcome = await answer(schema, (_, { check }) => {
      seen.push(check?.({ name: `${long}!` }), check?.({ name: "a" }));
      return { action: "accept", content: { name: "a" } };
    });
    expect(seen).toEqual([[{ path: "/name", message: "must match the pattern ^(a+)+$" }], []]);
    expect(outcome).toHaveProperty("params.inputResponses.q.content", { name: "a" });
  });
});
