import { describe, expect, expectTypeOf, test, vi } from "vitest";
import { z } from "zod";
import { ProtocolError } from "../../rpc/errors.ts";
import { ToolError } from "../../mcp/errors.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import { type RawPeer, modernMeta, openPeer, openSession, rawPeer } from "mcparley-tests/support/raw-peer.ts";
import { audio, embed, image, link, text } from "./content.ts";
import { prompt, resource, tool } from "../definition.ts";
import { resourceNotFound } from "./resources.ts";
import { createServer } from "../create-server.ts";
import { connect } from "../../connect.ts";
import { supportedVersions } from "../../mcp/revisions/index.ts";
import { toolResult } from "../core/tool-types.ts";

const modern = "2026-07-28";
const meta = modernMeta(modern);

const serve = (definition: object, options?: { meta?: JsonObject }): Promise<RawPeer> =>
  rawPeer(createServer({ name: "x", version: "1", ...definition }), { meta, ...options });

const callTool = async (peer: RawPeer, name = "t", args: JsonObject = {}): Promise<JsonObject> =>
  (await peer.request("tools/call", { name, arguments: args })).result;

describe("the result of a tool", () => {
  test.each([
    ["a string", "hello", [{ type: "text", text: "hello" }]],
    ["a number", 5, [{ type: "text", text: "5" }]],
    ["false", false, [{ type: "text", text: "false" }]],
    ["nothing", undefined, []],
    ["null", null, []],
    ["content", text("hi", { priority: 1 }), [{ type: "text", text: "hi", annotations: { priority: 1 } }]],
    [
      "an image",
      image(new Uint8Array([1, 2, 3]), "image/png"),
      [{ type: "image", data: "AQID", mimeType: "image/png" }],
    ],
    ["audio", audio("AQID", "audio/wav"), [{ type: "audio", data: "AQID", mimeType: "audio/wav" }]],
    [
      "a link",
      link("note://1", { title: "One" }),
      [{ type: "resource_link", uri: "note://1", name: "note://1", title: "One" }],
    ],
    ["a resource", embed("note://1", "one"), [{ type: "resource", resource: { uri: "note://1", text: "one" } }]],
    [
      "several",
      ["a", text("b")],
      [
        { type: "text", text: "a" },
        { type: "text", text: "b" },
      ],
    ],
    ["an object", { a: 1 }, [{ type: "text", text: '{"a":1}' }]],
  ])("%s", async (_, returned, content) => {
    const peer = await serve({ tools: { t: tool({ call: () => returned as string }) } });
    expect((await callTool(peer)).content).toEqual(content);
  });

  test("a CallToolResult is sent unchanged", async () => {
    const result = { content: [text("x")], isError: true, _meta: { "example.com/a": 1 } };
    const peer = await serve({ tools: { t: tool({ call: () => result }) } });
    expect(await callTool(peer)).toMatchObject(result);
  });

  test("a value of the output schema is sent as structuredContent and as text", async () => {
    const peer = await serve({ tools: { t: tool({ output: z.object({ n: z.number() }), call: () => ({ n: 1 }) }) } });
    expect(await callTool(peer)).toMatchObject({
      structuredContent: { n: 1 },
      content: [{ type: "text", text: '{"n":1}' }],
    });
  });

  test("an output that is not an object is structured on the newest revision, and in the text and _meta on older ones", async () => {
    const tools = { t: tool({ output: z.array(z.number()), call: () => [1, 2] }) };
    expect(await callTool(await serve({ tools }))).toMatchObject({ structuredContent: [1, 2] });
    const peer = await rawPeer(createServer({ name: "x", version: "1", tools }));
    await openSession(peer, "2025-11-25");
    expect(await callTool(peer)).toEqual({
      content: [{ type: "text", text: "[1,2]" }],
      _meta: { "mcparley/structuredContent": [1, 2] },
    });
    expect((await peer.request("tools/list")).result.tools).toEqual([
      { name: "t", inputSchema: { type: "object", properties: {}, additionalProperties: false } },
    ]);
  });

  test.each(supportedVersions)(
    "every input schema has properties on %s, because model providers require them",
    async (revision) => {
      const call = (): string => "";
      const tools = {
        none: tool({ call }),
        open: tool({ input: { type: "object" }, call }),
        composed: tool({ input: { anyOf: [{ required: ["a"] }, { required: ["b"] }] }, call }),
        library: tool({ input: z.object({}), call }),
        full: tool({ input: { type: "object", properties: { a: { type: "string" } } }, call }),
      };
      const server = createServer({ name: "x", version: "1", tools });
      const client = await connect(server, { revision });
      const listed = await client.listTools().all();
      await client.close();
      expect(listed.map(({ inputSchema }) => [inputSchema.type, inputSchema.properties])).toEqual([
        ["object", {}],
        ["object", {}],
        ["object", {}],
        ["object", {}],
        ["object", { a: { type: "string" } }],
      ]);
    },
  );

  test("toolResult sets content and structuredContent", async () => {
    const call = () => toolResult({ content: [text("one")], structuredContent: { n: 1 } });
    const peer = await serve({ tools: { t: tool({ output: z.object({ n: z.number() }), call }) } });
    expect(await callTool(peer)).toMatchObject({ content: [{ text: "one" }], structuredContent: { n: 1 } });
  });

  test("a value that does not match the output schema is hidden from the client, and reported with all issues", async () => {
    const onError = vi.fn<(error: unknown) => void>();
    const peer = await serve({
      onError,
      tools: { t: tool({ output: z.object({ n: z.number() }), call: () => ({ n: "secret" }) as never }) },
    });
    expect((await peer.request("tools/call", { name: "t" })).error).toEqual({
      code: -32603,
      message: "Internal error",
    });
    expect(String(onError.mock.calls[0]?.[0])).toContain("/n");
  });
});

describe("the arguments of a tool", () => {
  test("invalid arguments are a tool error with path and reason", async () => {
    const peer = await serve({
      tools: { t: tool({ input: z.object({ a: z.object({ b: z.number() }) }), call: () => "x" }) },
    });
    const result = await callTool(peer, "t", { a: { b: "no" } });
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("/a/b") as string }] });
  });

  test("a JSON Schema validates arguments", async () => {
    const input = { type: "object", properties: { n: { type: "integer", minimum: 1 } }, required: ["n"] };
    const peer = await serve({ tools: { t: tool({ input, call: ({ n }) => String(n) }) } });
    expect(await callTool(peer, "t", { n: 3 })).toMatchObject({ content: [{ text: "3" }] });
    expect(await callTool(peer, "t", { n: 0 })).toMatchObject({ isError: true });
    expect(await callTool(peer, "t", {})).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("n") as string }],
    });
  });

  test("a tool without input rejects arguments and names them", async () => {
    const peer = await serve({ tools: { t: tool({ call: () => "x" }) } });
    expect(await callTool(peer, "t", { surprise: 1 })).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("surprise") as string }],
    });
  });

  test("arguments over the budget are rejected before they are validated", async () => {
    const seen = vi.fn<() => string>(() => "x");
    const input = z.object({ v: z.unknown() });
    const peer = await serve({ limits: { elements: 100, depth: 5 }, tools: { t: tool({ input, call: seen }) } });
    expect(
      (await peer.request("tools/call", { name: "t", arguments: { v: Array.from({ length: 101 }) } })).error.code,
    ).toBe(-32602);
    expect((await peer.request("tools/call", { name: "t", arguments: { v: [[[[[[1]]]]]] } })).error.code).toBe(-32602);
    expect(seen).not.toHaveBeenCalled();
    expect(await callTool(peer, "t", { v: [1, 2] })).toMatchObject({ content: [{ text: "x" }] });
  });

  test("an unknown tool is a protocol error that names it", async () => {
    const { error } = await (await serve({ tools: {} })).request("tools/call", { name: "nope" });
    expect(error).toMatchObject({ code: -32602 });
    const named = await (
      await serve({ tools: { t: tool({ call: () => "x" }) } })
    ).request("tools/call", { name: "nope" });
    expect(named.error).toMatchObject({ code: -32602, message: "Unknown tool: nope" });
  });

  test.each([[{}], [{ name: 5 }], [{ name: "t", arguments: [1] }], [{ name: "t", arguments: "x" }]])(
    "bad params %j",
    async (params) => {
      const peer = await serve({ tools: { t: tool({ call: () => "x" }) } });
      expect((await peer.request("tools/call", params as JsonObject)).error.code).toBe(-32602);
    },
  );

  test("constructor and __proto__ are ordinary names", async () => {
    const tools = Object.fromEntries(
      ["constructor", "toString", "hasOwnProperty"].map((name) => [name, tool({ call: () => name })]),
    );
    const server = createServer({ name: "x", version: "1", tools });
    server.tools.set("__proto__", tool({ call: () => "proto" }));
    const peer = await rawPeer(server, { meta });
    for (const name of Object.keys(tools))
      expect(await callTool(peer, name)).toMatchObject({ content: [{ text: name }] });
    expect(await callTool(peer, "__proto__")).toMatchObject({ content: [{ text: "proto" }] });
    expect((await peer.request("tools/call", { name: "valueOf" })).error.message).toBe("Unknown tool: valueOf");
  });
});

describe("errors", () => {
  test("the client receives the text of a ToolError only, and onError receives every other error", async () => {
    const onError = vi.fn<(error: unknown, call: unknown) => void>();
    const secret = new Error("postgres://admin:hunter2@db/prod is down");
    const peer = await serve({
      onError,
      tools: {
        told: tool({
          call: () => {
            throw new ToolError("Try a smaller number.");
          },
        }),
        leaked: tool({
          call: () => {
            throw secret;
          },
        }),
        coded: tool({
          call: () => {
            throw new ProtocolError(-32050 + 0, "own", { data: { a: 1 } });
          },
        }),
      },
    });
    expect(await callTool(peer, "told")).toMatchObject({ isError: true, content: [{ text: "Try a smaller number." }] });
    expect((await peer.request("tools/call", { name: "leaked" })).error).toEqual({
      code: -32603,
      message: "Internal error",
    });
    expect(onError).toHaveBeenCalledTimes(1);
    expect(onError.mock.calls[0]?.[0]).toBe(secret);
    expect(JSON.stringify(peer.received)).not.toContain("hunter2");
  });

  test("a protocol error of a handler is sent unchanged", async () => {
    const peer = await serve({
      prompts: {
        p: prompt({
          get: () => {
            throw new ProtocolError(1234, "own", { data: { a: 1 } });
          },
        }),
      },
    });
    expect((await peer.request("prompts/get", { name: "p" })).error).toEqual({
      code: 1234,
      message: "own",
      data: { a: 1 },
    });
  });

  test.each([
    ["2024-11-05", -32002],
    ["2025-11-25", -32002],
    [modern, -32602],
  ])("a missing resource has the code of %s: %i", async (version, code) => {
    const server = createServer({
      name: "x",
      version: "1",
      resources: {
        note: resource("note://{id}", {
          read: ({ id }) => {
            throw resourceNotFound(`note://${id}`);
          },
        }),
      },
    });
    const peer = await openPeer(server, version);
    for (const uri of ["nope://1", "note://7"]) {
      expect((await peer.request("resources/read", { uri })).error).toEqual({
        code,
        message: "Resource not found",
        data: { uri },
      });
    }
  });

  test.each([
    [() => createServer({ name: "", version: "1" }), "name"],
    [() => createServer({ name: "x", version: "1", tools: { bad: { call: () => "x" } as never } }), "bad"],
    [
      () =>
        createServer({ name: "x", version: "1", tools: { bad: tool({ input: { type: "string" }, call: () => "x" }) } }),
      "bad",
    ],
    [
      () => createServer({ name: "x", version: "1", resources: { bad: resource("x://{", { read: () => "x" }) } }),
      "bad",
    ],
    [
      () => createServer({ name: "x", version: "1", tools: { bad: prompt({ get: () => "x" }) as never } }),
      "not a tool",
    ],
    [() => createServer({ name: "x", version: "1", extensions: [{ id: "noprefix" }] }), "noprefix"],
  ])("createServer names an invalid definition (%#)", (make, named) => {
    expect(make).toThrow(named);
  });
});

test("types are inferred from definitions, also of structured output", () => {
  const add = tool({
    input: z.object({ a: z.number(), b: z.number().default(1) }),
    output: z.object({ sum: z.number() }),
    call: ({ a, b }) => ({ sum: a + b }),
  });
  expectTypeOf<NonNullable<(typeof add)["~types"]>["input"]>().toEqualTypeOf<{ a: number; b?: number | undefined }>();
  expectTypeOf<NonNullable<(typeof add)["~types"]>["output"]>().toEqualTypeOf<{ sum: number }>();
  // @ts-expect-error the output schema requires a number
  tool({ output: z.object({ sum: z.number() }), call: () => ({ sum: "x" }) });
  // @ts-expect-error the template has no such variable
  resource("note://{id}", { read: ({ nope }) => nope });
  // @ts-expect-error a tool without an output schema returns content, not any object
  tool({ call: () => ({ any: "object" }) });
});
