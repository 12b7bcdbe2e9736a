import { PassThrough } from "node:stream";
import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { type Client, connect } from "./client.ts";
import { toFetch } from "./http.ts";
import { ToolError, supportedVersions } from "./index.ts";
import { createServer, image, link, text, tool, toolResult } from "./server.ts";
import { streamTransport } from "./stdio.ts";
import { modernPeer, peerTransports } from "./testing/peer-transports.ts";
import { openClient } from "./client/open-client.ts";

const revisions = supportedVersions.filter((version) => version !== "2024-10-07");
const picture = image("AQID", "image/png");

const server = createServer({
  name: "values",
  version: "1.0.0",
  tools: {
    tables: tool({
      output: z.object({ tables: z.array(z.string()) }),
      call: () => ({ tables: ["books", "loans"] }),
    }),
    list: tool({ output: z.array(z.number()), call: () => [1, 2] }),
    count: tool({ output: z.number(), call: () => 3 }),
    flag: tool({ output: z.boolean(), call: () => false }),
    word: tool({ output: z.string(), call: () => '{"a":1}' }),
    missing: tool({ output: z.null(), call: () => null }),
    date: tool({
      output: {
        type: "object",
        properties: { at: { type: "string", format: "date-time" } },
        required: ["at"],
      },
      call: () => ({ at: "2026-07-28T00:00:00.000Z" }),
    }),
    described: tool({
      output: z.object({ celsius: z.number() }),
      call: () => toolResult({ content: [text("Mild."), picture], structuredContent: { celsius: 18 } }),
    }),
    marked: tool({
      output: z.object({ n: z.number() }),
      call: () => toolResult({ content: [], structuredContent: { n: 1 }, _meta: { "com.example/key": 1 } }),
    }),
    failed: tool({
      output: z.object({ n: z.number() }),
      call: () => {
        throw new ToolError("no");
      },
    }),
    json: tool({ call: () => '{"a":1}' }),
    number: tool({ call: () => 5 }),
    nothing: tool({ call: () => {} }),
    picture: tool({ call: () => picture }),
    mixed: tool({ call: () => [text('{"a":1}'), picture] }),
  },
});

const transports: Record<string, (revision: string) => Promise<Client>> = {
  memory: (revision) => connect(server, { revision }),
  stdio: async (revision) => {
    const [up, down] = [new PassThrough(), new PassThrough()];
    await server.attach(streamTransport(up, down));
    return connect(streamTransport(down, up), { revision });
  },
  http: (revision) => {
    const { fetch: serve } = toFetch(server);
    return connect("http://127.0.0.1/mcp", { revision, fetch: (url, init) => serve(new Request(url, init)) });
  },
};

const values: Record<string, unknown> = {
  tables: { tables: ["books", "loans"] },
  list: [1, 2],
  count: 3,
  flag: false,
  word: '{"a":1}',
  missing: null,
  date: { at: "2026-07-28T00:00:00.000Z" },
  described: { celsius: 18 },
  marked: { n: 1 },
  json: '{"a":1}',
  number: "5",
  nothing: [],
  picture: [picture],
  mixed: [text('{"a":1}'), picture],
};
const structured = ["tables", "list", "count", "flag", "word", "missing", "date", "described", "marked"];

describe.each(revisions)("on %s", (revision) => {
  test.each(Object.entries(transports))("each tool returns a value of its type over %s", async (_, open) => {
    await using client = await open(revision);
    expect(client.server.revision).toBe(revision);
    for (const [name, value] of Object.entries(values)) {
      expect([name, await client.callTool(name)]).toEqual([name, value]);
      const { structuredContent } = await client.callToolResult(name);
      expect([name, structuredContent]).toEqual([name, structured.includes(name) ? value : undefined]);
    }
    await expect(client.callTool("failed")).rejects.toMatchObject({ code: "tool_error", message: "no" });
  });

  test("the whole result has the metadata of the handler, and none of the library", async () => {
    await using client = await connect(server, { revision });
    const metadata = (await client.callToolResult("marked"))._meta ?? {};
    expect(metadata["com.example/key"]).toBe(1);
    expect(Object.keys(metadata).filter((key) => !/^(com\.example|io\.modelcontextprotocol)\//.test(key))).toEqual([]);
    const plain = (await client.callToolResult("tables"))._meta ?? {};
    expect(Object.keys(plain).filter((key) => !key.startsWith("io.modelcontextprotocol/"))).toEqual([]);
  });
});

test("the functions of a typed client return the declared types on the first revision", async () => {
  await using client = await connect(server, { revision: "2024-11-05" });
  const { tables } = await client.tools.tables();
  expectTypeOf(tables).toEqualTypeOf<string[]>();
  expect(tables).toEqual(["books", "loans"]);
});

test("a link is text on revisions without links, and the type of the value includes it", async () => {
  const linking = createServer({ name: "x", version: "1", tools: { a: tool({ call: () => link("note://1") }) } });
  await using older = await connect(linking, { revision: "2025-03-26" });
  const value = await older.tools.a();
  expectTypeOf(value).toEqualTypeOf<string | Awaited<ReturnType<typeof older.callToolResult>>["content"]>();
  expect(value).toBe("[note://1](note://1)");
});

test("JSON text of a server of another library stays text", async () => {
  const result = { content: [text('{"a":1}')], _meta: { "com.example/structuredContent": { a: 1 } } };
  const client = await openClient(peerTransports(modernPeer({ answers: { "tools/call": () => result } })));
  expect(await client.callTool("a")).toBe('{"a":1}');
  expect(await client.callToolResult("a")).toEqual(result);
});
