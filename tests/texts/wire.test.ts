import { PassThrough } from "node:stream";
import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { LocalError, ProtocolError, supportedVersions } from "mcparley";
import { type Client, connect } from "mcparley/client";
import { toFetch } from "mcparley/http";
import { type Server, ToolError, createServer, prompt, resource, tool, toolResult } from "mcparley/server";
import { streamTransport } from "mcparley/stdio";

/** A text that `slice` has cut in half an emoji. */
const half = "cut \ud83d";
const whole = "cut \ufffd";

/** A server whose texts all end with half of an emoji: names for people, descriptions, results, errors, logs and questions. */
function brokenServer(): Server {
  const shared = { title: half, description: half, meta: { "com.example/note": half } };
  return createServer({
    name: "broken",
    version: half,
    title: half,
    instructions: half,
    tools: {
      echo: tool({
        ...shared,
        input: z.object({ text: z.string().describe(half) }),
        async call({ text }, ctx) {
          ctx.log.info({ [half]: half }, half);
          ctx.progress(1, 2, half);
          return `${half} ${text}`;
        },
      }),
      data: tool({
        output: z.record(z.string(), z.string()),
        call: () => toolResult({ content: [{ type: "text", text: half }], structuredContent: { [half]: half } }),
      }),
      object: tool({ output: z.record(z.string(), z.string()), call: () => ({ [half]: half }) }),
      fail: tool({
        call() {
          throw new ToolError(half);
        },
      }),
      refuse: tool({
        call() {
          throw new ProtocolError(-32001, half, { data: { why: half } });
        },
      }),
      ask: tool({
        async call(_input, ctx) {
          const { name } = await ctx.elicit({ message: half, schema: z.object({ name: z.string().describe(half) }) });
          return `${half} ${name}`;
        },
      }),
      sample: tool({
        async call(_input, ctx) {
          const { content } = await ctx.sample({
            systemPrompt: half,
            maxTokens: 10,
            messages: [{ role: "user", content: { type: "text", text: half } }],
          });
          return JSON.stringify(content);
        },
      }),
      roots: tool({ call: async (_input, ctx) => JSON.stringify(await ctx.roots()) }),
    },
    prompts: {
      write: prompt({
        ...shared,
        arguments: { topic: { description: half, complete: () => [half] } },
        get: ({ topic }) => `${half} ${topic}`,
      }),
    },
    resources: {
      note: resource("note://1", { ...shared, read: () => half }),
      large: resource("note://2", { read: () => half.repeat(50_000) }),
      page: resource("page://{id}", { ...shared, complete: { id: () => [half] }, read: ({ id }) => half + id }),
    },
  });
}

/** A connection whose bytes were recorded as text, in both directions. */
interface Recorded {
  client: Client;
  /** All text that was sent, of both sides. */
  text(): string;
  close(): Promise<void>;
}

const handlers = {
  info: { name: "broken-client", version: half },
  roots: [{ uri: "file:///tmp", name: half }],
  elicit: () => ({ action: "accept" as const, content: { name: half } }),
  sample: () => ({ role: "assistant" as const, model: half, content: { type: "text" as const, text: half } }),
};

async function overStdio(revision: string, onLog?: (log: unknown) => void): Promise<Recorded> {
  const [up, down] = [new PassThrough(), new PassThrough()];
  const sent: string[] = [];
  for (const stream of [up, down]) stream.on("data", (chunk: Buffer) => sent.push(chunk.toString()));
  const server = brokenServer();
  await server.attach(streamTransport(up, down));
  const client = await connect(streamTransport(down, up), { ...handlers, onLog, revision });
  return { client, text: () => sent.join(""), close: () => client.close() };
}

function overHttp(accept?: string): typeof overStdio {
  return async (revision, onLog) => {
    const served = toFetch(brokenServer());
    const sent: Promise<string>[] = [];
    const recording: typeof fetch = async (input, init) => {
      const request = new Request(input, init);
      if (accept && request.method === "POST") request.headers.set("accept", accept);
      sent.push(request.clone().text(), Promise.resolve(JSON.stringify([...request.headers])));
      const response = await served.fetch(request);
      if (request.method === "POST")
        sent.push(
          response
            .clone()
            .text()
            .catch(() => ""),
        );
      return response;
    };
    const client = await connect({ url: "http://localhost/mcp", fetch: recording }, { ...handlers, onLog, revision });
    const texts: string[] = [];
    for (const one of sent) void one.then((text) => texts.push(text));
    return {
      client,
      text: () => texts.join("\n"),
      async close() {
        await client.close();
        await served.close();
        texts.push(...(await Promise.all(sent)));
      },
    };
  };
}

const open: Recorded[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((recorded) => recorded.close()));
});

describe.each([
  ["stdio", overStdio],
  ["HTTP", overHttp()],
  ["HTTP with event streams", overHttp("text/event-stream")],
])("over %s", (_transport, start) => {
  test.each(supportedVersions)("no text of either side has half of a surrogate pair on %s", async (revision) => {
    const logs: unknown[] = [];
    const recorded = await start(revision, (log) => logs.push(log));
    open.push(recorded);
    const { client } = recorded;
    const progress: unknown[] = [];

    const [listed] = await client.listTools().all();
    expect(listed).toMatchObject({ description: whole, inputSchema: { properties: { text: { description: whole } } } });
    const options = { logLevel: "info" as const, onProgress: (one: unknown) => progress.push(one) };
    expect(await client.callTool("echo", { text: half }, options)).toBe(`${whole} ${whole}`);
    const data = await client.callToolResult("data");
    expect(data.content).toEqual([{ type: "text", text: whole }]);
    if (data.structuredContent !== undefined) expect(data.structuredContent).toEqual({ [whole]: whole });
    expect((await client.callToolResult("object")).content).toEqual([
      { type: "text", text: JSON.stringify({ [whole]: whole }) },
    ]);
    await expect(client.callTool("fail")).rejects.toMatchObject({ code: "tool_error", message: whole });
    await expect(client.callTool("refuse")).rejects.toMatchObject({ message: whole, data: { why: whole } });
    expect(await client.getPrompt("write", { topic: half })).toMatchObject({
      messages: [{ content: { text: `${whole} ${whole}` } }],
    });
    expect((await client.readResource("note://1")).contents).toMatchObject([{ text: whole }]);
    expect((await client.readResource("note://2")).contents).toMatchObject([{ text: whole.repeat(50_000) }]);
    const completed = await client.complete({ type: "ref/prompt", name: "write" }, { name: "topic", value: half });
    expect(completed.values).toEqual([whole]);
    await client.listPrompts().all();
    await client.listResources().all();
    await client.listResourceTemplates().all();
    if (revision >= "2025-06-18") expect(await client.callTool("ask")).toBe(`${whole} ${whole}`);
    expect(await client.callTool("sample")).toBe(JSON.stringify({ type: "text", text: whole }));
    expect(await client.callTool("roots")).toBe(JSON.stringify([{ uri: "file:///tmp", name: whole }]));

    await recorded.close();
    const text = recorded.text();
    expect(text).toContain(whole);
    expect(text).not.toMatch(/(?<!\\)(?:\\\\)*\\ud[89a-f]/i);
    expect(text.isWellFormed()).toBe(true);
    expect(logs).toMatchObject([{ logger: whole, data: { [whole]: whole } }]);
    if (revision >= "2025-03-26") expect(progress).toMatchObject([{ message: whole }]);
  });
});

test("a name or URI with half of a surrogate pair is not sent", async () => {
  const recorded = await overStdio("2026-07-28");
  open.push(recorded);
  const { client } = recorded;
  const refused = (what: string): unknown => ({
    code: "invalid_message",
    message: `${what} was not sent: its name or URI has half of a surrogate pair. Use whole characters.`,
  });
  const before = recorded.text();
  const uri = "note://\ud83d";
  await expect(client.readResource(uri)).rejects.toMatchObject(
    refused(String.raw`resources/read "note://\ud83d"`) as object,
  );
  await expect(client.callTool("a\ud83d")).rejects.toMatchObject(refused(String.raw`tools/call "a\ud83d"`) as object);
  await expect(client.getPrompt("a\ud83d")).rejects.toMatchObject(refused(String.raw`prompts/get "a\ud83d"`) as object);
  await expect(client.listen({ uris: [uri] }, () => {})).rejects.toMatchObject({ code: "invalid_message" });
  const ref = { type: "ref/resource", uri } as const;
  await expect(client.complete(ref, { name: "id", value: "" })).rejects.toMatchObject({ code: "invalid_message" });
  expect(recorded.text()).toBe(before);
  expect(await client.readResource("note://1")).toBeDefined();
});

test("a URI with half of a surrogate pair that a peer sends is refused, and reaches no handler", async () => {
  let reads = 0;
  const page = resource("page://{id}", { read: () => `${(reads += 1)}` });
  const served = toFetch(createServer({ name: "pages", version: "1", resources: { page } }));
  const headers = {
    "content-type": "application/json",
    accept: "application/json",
    "mcp-protocol-version": "2026-07-28",
  };
  const meta = String.raw`{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"a","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`;
  const body = String.raw`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"page://\ud83d","_meta":${meta}}}`;
  const named = { ...headers, "mcp-method": "resources/read", "mcp-name": "=?base64?cGFnZTovL++/vQ==?=" };
  const response = await served.fetch(new Request("http://localhost/mcp", { method: "POST", headers: named, body }));
  const text = await response.text();
  expect(JSON.parse(text)).toMatchObject({ error: { code: expect.any(Number) } });
  expect(text).not.toMatch(/(?<!\\)\\ud83d/);
  expect(reads).toBe(0);
});

describe("a definition whose name or URI has half of a surrogate pair is refused when it is made", () => {
  const named = { name: "test", version: "1" };
  const read = { read: () => "" };
  test.each([
    ["a server", () => createServer({ ...named, name: half })],
    ["the website of a server", () => createServer({ ...named, websiteUrl: `https://a.example/${half}` })],
    ["an icon of a server", () => createServer({ ...named, icons: [{ src: `https://a.example/${half}` }] })],
    [
      "an icon of a tool",
      () =>
        createServer({
          ...named,
          tools: { a: tool({ icons: [{ src: `https://a.example/${half}` }], call: () => "" }) },
        }),
    ],
    ["a tool", () => createServer({ ...named, tools: { [half]: tool({ call: () => "" }) } })],
    ["a prompt", () => createServer({ ...named, prompts: { [half]: prompt({ get: () => "" }) } })],
    [
      "an argument of a prompt",
      () => createServer({ ...named, prompts: { a: prompt({ arguments: { [half]: {} }, get: () => "" }) } }),
    ],
    ["the name of a resource", () => createServer({ ...named, resources: { [half]: resource("note://1", read) } })],
    ["a URI", () => createServer({ ...named, resources: { a: resource("note://\ud83d", read) } })],
    ["a URI template", () => createServer({ ...named, resources: { a: resource("note://\ud83d/{id}", read) } })],
    [
      "an argument of a tool",
      () => createServer(named).tools.set("a", tool({ input: z.object({ [half]: z.string() }), call: () => "" })),
    ],
    [
      "a nested argument of a tool in JSON Schema",
      () => {
        const input = { type: "object", properties: { a: { type: "object", properties: { "\udc00": {} } } } } as const;
        return createServer({ ...named, tools: { a: tool({ input, call: () => "" }) } });
      },
    ],
    [
      "an allowed value of an argument",
      () => createServer(named).tools.set("a", tool({ input: z.object({ b: z.enum([half]) }), call: () => "" })),
    ],
    ["a prompt that is added later", () => createServer(named).prompts.set(half, prompt({ get: () => "" }))],
    ["an updated resource", () => createServer(named).resources.updated("note://\ud83d")],
  ])("%s", (_what, define) => {
    let error: unknown;
    try {
      define();
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(Error);
    if (error instanceof LocalError) expect(error.code).toBe("invalid_definition");
    expect((error as Error).message).toMatch(/half of a surrogate pair|1 to 128 letters/);
    expect((error as Error).message).toMatch(/\\ud[8-9a-f]|tool "cut/);
  });

  test("a description with half of a pair is accepted and replaced", () => {
    const input = z.object({ a: z.string().describe(half) });
    expect(
      createServer({ ...named, tools: { a: tool({ description: half, input, call: () => "" }) } }).tools.size,
    ).toBe(1);
  });
});
