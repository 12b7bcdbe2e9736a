import { afterEach, describe, expect, test } from "vitest";
import { memoryPair } from "./rpc/memory-transport.ts";
import { forgetRevisions } from "./client/connect/remembered-revisions.ts";
import type { ServerChange } from "./client/subscriptions/subscription.ts";
import { fakeClock, flushPromises } from "./testing/fake-clock.ts";
import { modernPeer } from "./testing/peer-transports.ts";
import { connect } from "./client.ts";
import { toFetch } from "./http.ts";
import { createServer, prompt, resource, tool } from "./server.ts";

afterEach(forgetRevisions);

function define(): ReturnType<typeof createServer> {
  return createServer({
    name: "demo",
    version: "1.0.0",
    tools: {
      add: tool({
        input: {
          type: "object",
          properties: { a: { type: "number" }, region: { type: "string", "x-mcp-header": "Region" } },
        },
        output: { type: "object" },
        call: ({ a }) => ({ sum: (a as number) + 1 }),
      }),
      ask: tool({
        call: async (_, ctx) => {
          const schema = { type: "object", properties: { ok: { type: "boolean" } } };
          const { ok } = await ctx.elicit({ message: "sure?", schema });
          return `ok: ${String(ok)}`;
        },
      }),
      slow: tool({
        call: (_, ctx) => {
          for (let done = 1; done <= 100; done++) ctx.progress(done);
          return "done";
        },
      }),
    },
    prompts: { hi: prompt({ arguments: { name: { complete: ["Ann"] } }, get: ({ name }) => `hi ${name}` }) },
    resources: { note: resource("note://a", { read: () => "text" }) },
  });
}

function overHttp(server: ReturnType<typeof define>): typeof fetch {
  const handler = toFetch(server);
  return async (input, init) => handler.fetch(new Request(input, init));
}

describe.each(["auto", "2025-11-25", "2025-06-18", "2025-03-26"])("over HTTP, %s", (revision) => {
  test("all features that work in memory work", async () => {
    const server = define();
    const errors: Error[] = [];
    const client = await connect<typeof server>("http://localhost/mcp", {
      fetch: overHttp(server),
      revision,
      elicit: () => ({ action: "accept", content: { ok: true } }),
      onError: (error) => errors.push(error),
    });
    expect(client.server.revisionKind).toBe(revision === "auto" ? "modern" : "legacy");
    expect(client.server.info?.name).toBe("demo");
    const value = await client.callTool("add", { a: 1, region: "日本" });
    expect(typeof value === "string" ? JSON.parse(value) : value).toEqual({ sum: 2 });
    if (revision !== "2025-03-26") expect(await client.callTool("ask")).toBe("ok: true");
    const seen: number[] = [];
    expect(await client.callTool("slow", {}, { onProgress: ({ progress }) => seen.push(progress) })).toBe("done");
    expect(seen.length).toBe(100);
    expect((await client.listTools().all()).map(({ name }) => name)).toEqual(["add", "ask", "slow"]);
    expect((await client.getPrompt("hi", { name: "Ann" })).messages.length).toBe(1);
    expect(await client.complete({ type: "ref/prompt", name: "hi" }, { name: "name", value: "A" })).toMatchObject({
      values: ["Ann"],
    });
    expect((await client.readResource("note://a")).contents).toMatchObject([{ text: "text" }]);
    await client.ping();
    expect(errors).toEqual([]);
    await client.close();
    await server.close();
  });

  test("change notifications are delivered", async () => {
    const server = define();
    const client = await connect("http://localhost/mcp", { fetch: overHttp(server), revision });
    const arrived = new Promise<ServerChange>((resolve) => {
      void client.listen({ uris: ["note://a"] }, resolve).then(async () => {
        await flushPromises();
        server.resources.updated("note://a");
      });
    });
    expect(await arrived).toEqual({ kind: "updated", uri: "note://a" });
    await client.close();
    await server.close();
  });
});

test("a session that the server has lost is replaced once for all calls", async () => {
  let server = define();
  let handler = overHttp(server);
  let opened = 0;
  const fetch: typeof globalThis.fetch = (input, init) => {
    if (typeof init?.body === "string" && init.body.includes('"initialize"')) opened++;
    return handler(input, init);
  };
  const client = await connect("http://localhost/mcp", { fetch, revision: "2025-11-25" });
  server = define();
  handler = overHttp(server);
  const calls = Array.from({ length: 5 }, (_, a) => client.callTool("add", { a }));
  expect(await Promise.all(calls)).toEqual([1, 2, 3, 4, 5].map((sum) => ({ sum })));
  expect(opened).toBe(2);
  await client.close();
});

test("a server value and a transport are connected in memory", async () => {
  const server = define();
  const client = await connect(server);
  expect(await client.callTool("add", { a: 1 })).toEqual({ sum: 2 });
  await client.close();
  const [ours, theirs] = memoryPair();
  await server.attach(theirs);
  const other = await connect(ours);
  expect(await other.callTool("add", { a: 1 })).toEqual({ sum: 2 });
  await server.close();
  await other.closed;
  expect(other.state).toBe("closed");
});

test("a transport in use is refused to another client until it is closed", async () => {
  const { transport } = modernPeer();
  const client = await connect(transport);
  await expect(connect(transport)).rejects.toMatchObject({
    code: "invalid_target",
    message: "The Transport is already used by another client. Create one transport for each client.",
  });
  expect(client.state).toBe("open");
  await client.close();
  // A closed transport of a scripted peer answers nothing, so connecting is aborted.
  const again = connect(transport, { signal: AbortSignal.abort() });
  await expect(again).rejects.toMatchObject({ code: "aborted" });
});

test("tools and prompts of a typed client are functions by name", async () => {
  const client = await connect(define());
  const { tools, prompts } = client as unknown as Record<
    "tools" | "prompts",
    Record<string, (args: object) => Promise<unknown>>
  >;
  expect(await tools.add?.({ a: 5 })).toEqual({ sum: 6 });
  expect(await prompts.hi?.({ name: "Ann" })).toHaveProperty("messages");
  expect(tools.constructor).toBe(Object);
  expect((tools as { then?: unknown }).then).toBeUndefined();
  await client.close();
});

test.each([
  ["ftp://example.com", '"ftp://example.com"'],
  ["example.com/mcp", '"example.com/mcp"'],
  ["./server.js", '"./server.js"'],
  ["ftp://user:hunter2@example.com", '"ftp://[redacted]@example.com"'],
  [{ port: 3000 }, "an object with the keys port"],
  [5, "5"],
  [null, "null"],
  [undefined, "undefined"],
])("%j is an invalid target, and the error names the valid ones", async (target, shown) => {
  const connecting = connect(target as never);
  await expect(connecting).rejects.toMatchObject({ code: "invalid_target" });
  await expect(connecting).rejects.toThrow(`Cannot connect to ${shown}. Pass an http or https URL,`);
});

test.each([[{ noprefix: {} }], [[{ id: "noprefix" }]]])(
  "extensions without a prefix in their id are refused: %j",
  async (extensions) => {
    await expect(connect(define(), { extensions })).rejects.toThrow('got "noprefix"');
  },
);

test("the time of a sign-in does not count for a call, in any round", async () => {
  const clock = fakeClock();
  const { fetch: serve } = toFetch(define(), { allowedHosts: ["mcp.example"] });
  let token: string | undefined;
  const client = await connect("https://mcp.example/mcp", {
    clock,
    elicit: () => ({ action: "accept", content: { ok: true } }),
    fetch: async (input, init) => {
      const request = new Request(input, init);
      const isCall = (await request.clone().text()).includes("tools/call");
      if (isCall && !request.headers.has("authorization")) return new Response(null, { status: 401 });
      await clock.advance(1);
      return serve(request);
    },
    auth: {
      headers: () => Promise.resolve(token === undefined ? {} : { authorization: token }),
      challenged: async () => {
        await clock.advance(3_600_000);
        token = "Bearer t";
        return true;
      },
    },
  });
  // The response to the input request is a separate round.
  expect(await client.callTool("ask", {}, { timeout: { idle: 1_000, total: 2_000 } })).toBe("ok: true");
  await client.close();
});
