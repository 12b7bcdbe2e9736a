import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { JsonObject } from "../../rpc/messages.ts";
import { openPeer } from "mcparley-tests/support/raw-peer.ts";
import { createServer } from "../create-server.ts";
import { prompt, resource, tool } from "../definition.ts";
import { text } from "./content.ts";
import { toolResult } from "../core/tool-types.ts";

const modern = "2026-07-28";

/** Returns the responses of three methods with handlers that return `value`, and the reported errors. */
async function answers(value: unknown, revision = modern) {
  const reported: string[] = [];
  const server = createServer({
    name: "test",
    version: "1.0.0",
    tools: { t: tool({ call: () => value as never }) },
    prompts: { p: prompt({ get: () => value as never }) },
    resources: { r: resource("r:a", { read: () => value as never }) },
    onError: (error) => void reported.push((error as Error).message),
  });
  const peer = await openPeer(server, revision);
  return {
    reported,
    call: () => peer.request("tools/call", { name: "t" }),
    get: () => peer.request("prompts/get", { name: "p" }),
    read: () => peer.request("resources/read", { uri: "r:a" }),
  };
}

const image = { type: "image", mimeType: "image/png", data: "iVBORw0=" };
const hi = { type: "text", text: "hi" };
const link = { type: "resource_link", uri: "r:a", name: "a" };

const invalidBlocks: [block: JsonObject, where: string][] = [
  [{ type: "image", data: "iVBORw0=" }, "mimeType"],
  [{ ...image, mimeType: 5 }, "mimeType"],
  [{ ...image, data: "not base64!" }, "data"],
  [{ ...image, data: "iVBORw0" }, "data"],
  [{ ...image, type: "audio", data: "data:audio/wav;base64,AAAA" }, "data"],
  [{ type: "text" }, "text"],
  [{ type: "text", text: undefined }, "text"],
  [{ type: "text", text: 5 }, "text"],
  [{ ...hi, annotations: { priority: 5 } }, "annotations.priority"],
  [{ ...hi, annotations: { priority: Number.NaN } }, "annotations.priority"],
  [{ ...hi, annotations: { audience: ["system"] } }, "annotations.audience"],
  [{ ...hi, annotations: { lastModified: "yesterday" } }, "annotations.lastModified"],
  [{ ...hi, annotations: 5 }, "annotations"],
  [{ ...hi, _meta: { "-a": 1 } }, "_meta"],
  [{ ...hi, _meta: { "1com/a": 1 } }, "_meta"],
  [{ ...hi, _meta: 5 }, "_meta"],
  [{ ...link, uri: "not a uri" }, "uri"],
  [{ type: "resource_link", uri: "r:a" }, "name"],
  [{ type: "resource", resource: { uri: "r:a" } }, "resource"],
  [{ type: "resource", resource: { uri: "r:a", blob: "?" } }, "resource.blob"],
  [{ type: "resource", resource: { uri: "a b", text: "" } }, "resource.uri"],
];

const validBlocks: JsonObject[] = [
  hi,
  image,
  { ...image, type: "audio", data: "" },
  link,
  { ...hi, annotations: { priority: 0.5, audience: ["user"], lastModified: "2026-01-01T00:00:00Z" } },
  { ...hi, _meta: { a: 1, "com.example/a_b.c-d": 2, "com.example/": 3, ui: {} } },
  { type: "resource", resource: { uri: "r:a", text: "" } },
  { type: "resource", resource: { uri: "https://example.com/ä", blob: "AA==", mimeType: "a/b" } },
];

describe.each([modern, "2025-11-25"])("content on revision %s", (revision) => {
  test.each(invalidBlocks)("of a tool is refused: %j", async (block, where) => {
    const { call, reported } = await answers({ content: [hi, block] }, revision);
    expect((await call()).error).toMatchObject({ code: -32603, message: "Internal error" });
    expect(reported).toEqual([expect.stringContaining(`content[1].${where}`)]);
  });

  test.each(invalidBlocks)("of a prompt is refused: %j", async (block, where) => {
    const { get, reported } = await answers({ messages: [{ role: "user", content: block }] }, revision);
    expect((await get()).error.code).toBe(-32603);
    expect(reported).toEqual([expect.stringContaining(`messages[0].content.${where}`)]);
  });

  test.each(validBlocks)("is sent: %j", async (block) => {
    const { call, get, reported } = await answers(block, revision);
    expect((await call()).error).toBeUndefined();
    expect((await get()).error).toBeUndefined();
    expect(reported).toEqual([]);
  });
});

class Point {
  readonly #x = 1;
  x(): number {
    return this.#x;
  }
}
const cycle: Record<string, unknown> = {};
cycle.list = [cycle];

describe.each([
  ["without output", (value: unknown) => tool({ call: () => value as never })],
  ["with output", (value: unknown) => tool({ output: z.any(), call: () => value as never })],
])("a tool %s", (_, make) => {
  async function report(value: unknown): Promise<{ error?: unknown; result?: unknown; reported: string[] }> {
    const reported: string[] = [];
    const onError = (error: unknown): void => void reported.push((error as Error).message);
    const peer = await openPeer(createServer({ name: "s", version: "1", tools: { t: make(value) }, onError }), modern);
    return { ...(await peer.request("tools/call", { name: "t" })), reported };
  }

  test.each<[string, unknown, string]>([
    ["a Map", new Map([["a", 1]]), '"result" is a Map, which JSON cannot represent.'],
    ["a Set in an object", { a: [{}, new Set([1])] }, '"result.a[1]" is a Set, which JSON cannot represent.'],
    ["an instance without members", { at: new Point() }, '"result.at" is a Point, which JSON cannot represent.'],
    ["a promise in an object", { a: Promise.resolve(1) }, '"result.a" is a Promise, which JSON cannot represent.'],
    ["a bigint", { a: [1n] }, '"result.a[0]" is a bigint, which JSON cannot represent.'],
    ["a cycle", { cycle }, '"result.cycle.list[0]" contains itself, which JSON cannot represent.'],
  ])("that returns %s is an error that names the member", async (_name, value, message) => {
    const { error, reported } = await report(value);
    expect(error).toMatchObject({ code: -32603, message: "Internal error" });
    expect(reported).toEqual([expect.stringContaining(message)]);
    expect(reported[0]).toMatch(/ in its place\.$/);
  });

  test.each<[string, unknown, string]>([
    ["empty objects", { a: {}, b: Object.create(null), c: [{}] }, '{"a":{},"b":{},"c":[{}]}'],
    ["a text with braces", { a: "{}" }, '{"a":"{}"}'],
    [
      "an instance with members",
      { a: {}, url: new URL("a:b"), error: Object.assign(new Error("x"), { code: 1 }) },
      '{"a":{},"url":"a:b","error":{"code":1}}',
    ],
  ])("sends %s", async (_name, value, json) => {
    const { result, reported } = await report(value);
    expect(reported).toEqual([]);
    expect(result).toMatchObject({ content: [{ type: "text", text: json }] });
  });
});

test("content of a type that does not exist is refused", async () => {
  const { call, reported } = await answers({ content: [{ type: "video", data: "" }] });
  expect((await call()).error.code).toBe(-32603);
  expect(reported).toEqual([expect.stringContaining("content[0].type")]);
});

test.each([["system"], [undefined]])("a message with the role %s is refused", async (role) => {
  const { get, reported } = await answers([{ role, content: hi }]);
  expect((await get()).error.code).toBe(-32603);
  expect(reported).toEqual([expect.stringContaining("messages[0].role")]);
});

test.each([
  [{ uri: "a b", text: "" }, "uri"],
  [{ blob: "?" }, "blob"],
  [{ text: "", mimeType: 5 }, "mimeType"],
  [{ text: "", meta: { "a b": 1 } }, "_meta"],
])("contents of a resource are refused: %j", async (part, where) => {
  const { read, reported } = await answers(part);
  expect((await read()).error.code).toBe(-32603);
  expect(reported).toEqual([expect.stringContaining(`contents[0].${where}`)]);
});

test("keys of a result's _meta are checked, also together with structured content", async () => {
  const { call, reported } = await answers(toolResult({ content: [text("a")], _meta: { "a b": 1 } }));
  expect((await call()).error.code).toBe(-32603);
  expect(reported).toEqual([expect.stringContaining('_meta has the invalid key "a b"')]);
});

describe("a definition", () => {
  const define = (definition: object) => () => createServer({ name: "test", version: "1.0.0", ...definition });
  const read = () => "";

  test.each(["not a uri", "/relative", "note", "http://", "1a:b", "note:{a b"])("with the URI %s is refused", (uri) => {
    expect(define({ resources: { r: resource(uri, { read }) } })).toThrow('resource "r"');
  });

  test.each(["note://1", "urn:a:b", "file:///a%20b", "{+uri}", "note://{id}{?a,b}", "{scheme}://a"])(
    "with the URI %s is accepted",
    (uri) => {
      expect(define({ resources: { r: resource(uri, { read }) } })).not.toThrow();
    },
  );

  test("with an invalid annotation or key of _meta is refused", () => {
    const annotations = { priority: 2 };
    expect(define({ resources: { r: resource("r:a", { annotations, read }) } })).toThrow("annotations.priority");
    const meta = { "a b": 1 };
    expect(define({ resources: { r: resource("r:a", { meta, read }) } })).toThrow('"a b"');
    expect(define({ tools: { t: tool({ meta, call: () => "" }) } })).toThrow('tool "t"');
    expect(define({ prompts: { p: prompt({ meta, get: () => "" }) } })).toThrow('prompt "p"');
  });
});
