import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import type { Receiver } from "../../rpc/transport.ts";
import { fakeClock } from "../../testing/fake-clock.ts";
import { modernMeta, openSession, rawPeer } from "mcparley-tests/support/raw-peer.ts";
import { prompt, resource, tool } from "../definition.ts";
import { createServer } from "../create-server.ts";
import { toolResult } from "../core/tool-types.ts";

const legacyVersions = ["2024-10-07", "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const modern = "2026-07-28";

const example = () =>
  createServer({
    name: "example",
    version: "1.2.3",
    title: "Example",
    instructions: "Use it well.",
    tools: {
      echo: tool({ input: z.object({ text: z.string() }), call: ({ text }) => text }),
      hang: tool({
        call: (_, ctx) =>
          new Promise<string>((_resolve, reject) =>
            ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason)),
          ),
      }),
    },
    prompts: { hello: prompt({ arguments: { who: { complete: ["world"] } }, get: () => "hello" }) },
    resources: { note: resource("note://1", { read: () => "one" }) },
  });

describe("legacy revisions", () => {
  test.each(legacyVersions)("initialize negotiates %s", async (version) => {
    const peer = await rawPeer(example());
    const result = await openSession(peer, version);
    expect(result).toMatchObject({
      protocolVersion: version,
      serverInfo: { name: "example", version: "1.2.3" },
      instructions: "Use it well.",
    });
    expect((await peer.request("ping")).result).toEqual({});
    expect((await peer.request("tools/call", { name: "echo", arguments: { text: "hi" } })).result).toEqual({
      content: [{ type: "text", text: "hi" }],
    });
  });

  test("only capabilities that the revision defines are declared", async () => {
    const first = await openSession(await rawPeer(example()), "2024-11-05");
    expect(first.capabilities).toEqual({
      logging: {},
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { listChanged: true, subscribe: true },
    });
    const later = await openSession(await rawPeer(example()), "2025-03-26");
    expect(later.capabilities).toHaveProperty("completions");
  });

  test("a request before initialize is rejected with the cure, and a ping is answered", async () => {
    const peer = await rawPeer(example());
    expect((await peer.request("ping")).result).toEqual({});
    const { error } = await peer.request("tools/list");
    expect(error).toMatchObject({ code: -32600, message: expect.stringContaining("initialize") as string });
  });

  test("a second initialize is rejected and changes nothing", async () => {
    const peer = await rawPeer(example());
    await openSession(peer, "2025-06-18");
    const again = await peer.request("initialize", {
      protocolVersion: "2024-11-05",
      capabilities: {},
      clientInfo: { name: "x", version: "1" },
    });
    expect(again.error).toMatchObject({ code: -32600 });
    expect((await peer.request("ping")).result).toEqual({});
  });

  test.each([
    [{}, "protocolVersion"],
    [{ protocolVersion: 1, capabilities: {}, clientInfo: { name: "x", version: "1" } }, "protocolVersion"],
    [{ protocolVersion: "2025-06-18", clientInfo: { name: "x", version: "1" } }, "capabilities"],
    [{ protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "x" } }, "clientInfo"],
  ])("initialize rejects the params %j and names %s", async (params, named) => {
    const peer = await rawPeer(example());
    const { error } = await peer.request("initialize", params);
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining(named) as string });
  });

  test("a method of another revision does not exist", async () => {
    const peer = await rawPeer(example());
    await openSession(peer, "2025-11-25");
    for (const method of ["nope", "elicitation/create", "tasks/list"]) {
      expect((await peer.request(method)).error).toMatchObject({ code: -32601 });
    }
  });
});

describe("modern revisions", () => {
  test("server/discover returns versions, capabilities and the server's name", async () => {
    const peer = await rawPeer(example(), { meta: modernMeta(modern) });
    const { result } = await peer.request("server/discover");
    expect(result).toEqual({
      resultType: "complete",
      supportedVersions: ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"],
      capabilities: {
        logging: {},
        completions: {},
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { listChanged: true, subscribe: true },
      },
      instructions: "Use it well.",
      ttlMs: 0,
      cacheScope: "public",
      _meta: { "io.modelcontextprotocol/serverInfo": { name: "example", version: "1.2.3", title: "Example" } },
    });
  });

  test.each([
    [{}, "protocolVersion"],
    [{ "io.modelcontextprotocol/protocolVersion": 7 }, "protocolVersion"],
    [{ "io.modelcontextprotocol/protocolVersion": modern }, "clientCapabilities"],
    [
      { "io.modelcontextprotocol/protocolVersion": modern, "io.modelcontextprotocol/clientCapabilities": [1] },
      "clientCapabilities",
    ],
    [{ ...modernMeta(modern), "io.modelcontextprotocol/logLevel": "loud" }, "logLevel"],
  ])("a request with _meta %j is rejected, and the error names %s", async (meta, named) => {
    const peer = await rawPeer(example());
    const { error } = await peer.request("server/discover", { _meta: meta });
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining(named) as string });
  });

  test.each([
    "initialize",
    "ping",
    "logging/setLevel",
    "resources/subscribe",
    "resources/unsubscribe",
    "unknown/method",
  ])("%s does not exist", async (method) => {
    const peer = await rawPeer(example(), { meta: modernMeta(modern) });
    expect((await peer.request(method)).error).toMatchObject({ code: -32601 });
  });

  test("requests are independent, and a session on the same connection keeps its revision", async () => {
    const peer = await rawPeer(example());
    await openSession(peer, "2025-03-26");
    const list = await peer.request("tools/list");
    const modernList = await peer.request("tools/list", { _meta: modernMeta(modern) });
    expect(list.result).not.toHaveProperty("resultType");
    expect(modernList.result).toMatchObject({ resultType: "complete", ttlMs: 0, cacheScope: "public" });
  });
});

describe("messages", () => {
  test.each([
    [42, "object"],
    [null, "object"],
    [{ id: 1, method: "ping" }, "jsonrpc"],
    [{ jsonrpc: "1.0", id: 1, method: "ping" }, "jsonrpc"],
    [{ jsonrpc: "2.0", id: 1, method: 5 }, "method"],
    [{ jsonrpc: "2.0", id: 1, method: "ping", params: [1] }, "params"],
    [{ jsonrpc: "2.0", id: null, method: "ping" }, "id"],
    [{ jsonrpc: "2.0", id: 1.5, method: "ping" }, "id"],
    [{ jsonrpc: "2.0", id: {}, method: "ping" }, "id"],
    [{ jsonrpc: "2.0", id: 1 }, "method"],
    [{ jsonrpc: "2.0", id: 1, result: 5 }, "result"],
    [{ jsonrpc: "2.0", id: 1, error: "no" }, "error"],
  ])("%j is rejected, and the error names %s", async (value, named) => {
    const peer = await rawPeer(example());
    peer.send(value);
    const refusal = await peer.next(() => true);
    expect(refusal).toMatchObject({ error: { code: -32600, message: expect.stringContaining(named) as string } });
  });

  test("member names are case-sensitive", async () => {
    const peer = await rawPeer(example());
    peer.send({ jsonrpc: "2.0", id: 1, Method: "ping" });
    expect(await peer.next(() => true)).toMatchObject({ error: { code: -32600 } });
  });

  test("a second request with an id in flight is rejected, and the first call continues", async () => {
    const peer = await rawPeer(example());
    await openSession(peer, "2025-06-18");
    peer.send({ jsonrpc: "2.0", id: "a", method: "tools/call", params: { name: "hang" } });
    expect((await peer.request("ping", {}, { id: "a" })).error).toMatchObject({ code: -32600 });
    expect((await peer.request("ping")).result).toEqual({});
  });

  test("unknown notifications and responses without a request are ignored", async () => {
    const peer = await rawPeer(example());
    peer.notify("notifications/nope", {});
    peer.send({ jsonrpc: "2.0", id: 99, result: {} });
    expect((await peer.request("ping")).result).toEqual({});
    expect(peer.received).toHaveLength(1);
  });
});

describe("batches", () => {
  test("2024-11-05 rejects a batch", async () => {
    const peer = await rawPeer(example());
    await openSession(peer, "2024-11-05");
    peer.send([{ jsonrpc: "2.0", id: "x", method: "ping" }]);
    expect(await peer.next((message) => "error" in message)).toMatchObject({ error: { code: -32600 } });
  });

  test("a batch of 101 messages is rejected", async () => {
    const peer = await rawPeer(example());
    await openSession(peer, "2025-03-26");
    peer.send(Array.from({ length: 101 }, (_, id) => ({ jsonrpc: "2.0", id, method: "ping" })));
    expect(await peer.next((message) => "error" in message)).toMatchObject({ error: { code: -32600 } });
  });
});

describe("cancellation", () => {
  test("a cancellation aborts the handler's signal, suppresses the response, and affects no other call", async () => {
    for (const meta of [undefined, modernMeta(modern)]) {
      const peer = await rawPeer(example(), meta && { meta });
      if (!meta) await openSession(peer, "2025-11-25");
      peer.send({
        jsonrpc: "2.0",
        id: "h",
        method: "tools/call",
        params: { name: "hang", ...(meta && { _meta: meta }) },
      });
      peer.notify("notifications/cancelled", { requestId: "h", reason: "enough" });
      await peer.settled();
      const { result } = await peer.request("tools/call", { name: "echo", arguments: { text: "still here" } });
      expect(result).toMatchObject({ content: [{ text: "still here" }] });
      expect(peer.received.filter((message) => "id" in message && message.id === "h")).toEqual([]);
    }
  });

  test.each(["legacy", "modern"])("the signal of a %s handler has the reason of the cancellation", async (kind) => {
    let signal: AbortSignal | undefined;
    const hang = tool({ call: (_, ctx) => new Promise<string>(() => (signal = ctx.signal)) });
    const server = createServer({ name: "x", version: "1", tools: { hang } });
    const peer = await rawPeer(server, kind === "modern" ? { meta: modernMeta(modern) } : {});
    if (kind === "legacy") await openSession(peer, "2025-11-25");
    void peer.request("tools/call", { name: "hang" }, { id: "h" });
    await expect.poll(() => signal).toBeDefined();
    peer.notify("notifications/cancelled", { requestId: "h", reason: "enough" });
    await expect.poll(() => String(signal?.reason)).toContain("enough");
  });

  test("closing the connection cancels the calls in flight", async () => {
    let aborted: unknown;
    const server = createServer({
      name: "x",
      version: "1",
      tools: {
        hang: tool({
          call: (_, ctx) =>
            new Promise<string>((resolve) =>
              ctx.signal.addEventListener("abort", () => resolve(String((aborted = ctx.signal.reason)))),
            ),
        }),
      },
    });
    const peer = await rawPeer(server);
    await openSession(peer, "2025-11-25");
    peer.send({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "hang" } });
    await peer.settled();
    await server.close();
    expect(aborted).toMatchObject({ code: "closed" });
  });
});

describe("messages that cannot be sent, and requests that cannot be answered", () => {
  /** A transport that serialises messages, as all transports except the in-memory one do. */
  async function serialising(server: ReturnType<typeof createServer>, sent: unknown[]): Promise<Receiver> {
    let receiver: Receiver | undefined;
    await server.attach({
      start: (opened) => {
        receiver = opened;
      },
      send: async (message) => {
        sent.push(JSON.parse(JSON.stringify(message)));
      },
      close: async () => receiver?.closed(),
    });
    return receiver as Receiver;
  }

  test("a result that is not valid JSON becomes an internal error, and is reported", async () => {
    const onError = vi.fn<(error: unknown) => void>();
    const result = () => toolResult({ content: [], structuredContent: { big: 1n } });
    const server = createServer({ name: "x", version: "1", onError, tools: { t: tool({ call: result }) } });
    const sent: unknown[] = [];
    const receiver = await serialising(server, sent);
    receiver.message({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "t", _meta: modernMeta(modern) } });
    await expect.poll(() => sent).toHaveLength(1);
    expect(sent).toEqual([{ jsonrpc: "2.0", id: 1, error: { code: -32603, message: "Internal error" } }]);
    expect(onError).toHaveBeenCalledTimes(1);
  });

  test("a pending request to the client fails when the input ends, and its call is answered", async () => {
    const ask = tool({ call: async (_, ctx) => ctx.roots().then(String, (error: Error) => error.message) });
    const sent: { method?: string; result?: unknown }[] = [];
    const receiver = await serialising(createServer({ name: "x", version: "1", tools: { ask } }), sent);
    const params = {
      protocolVersion: "2025-11-25",
      capabilities: { roots: {} },
      clientInfo: { name: "c", version: "1" },
    };
    receiver.message({ jsonrpc: "2.0", id: 0, method: "initialize", params });
    receiver.message({ jsonrpc: "2.0", method: "notifications/initialized" });
    receiver.message({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "ask" } });
    await expect.poll(() => sent.at(-1)?.method).toBe("roots/list");
    receiver.ended?.();
    await expect
      .poll(() => sent.at(-1)?.result)
      .toMatchObject({ content: [{ text: expect.stringContaining("closed") as string }] });
  });
});

describe("a client that is not ready yet", () => {
  const ask = tool({ call: async (_, ctx) => `${(await ctx.roots()).length} roots` });

  async function halfOpen() {
    const clock = fakeClock();
    const peer = await rawPeer(createServer({ name: "x", version: "1", tools: { ask }, clock }));
    const clientInfo = { name: "c", version: "1" };
    await peer.request("initialize", { protocolVersion: "2025-11-25", capabilities: { roots: {} }, clientInfo });
    const called = peer.request("tools/call", { name: "ask" }, { id: "call" });
    const asked = () => peer.received.filter((message) => "method" in message).map(({ method }) => method);
    await expect.poll(() => clock.pending).toBeGreaterThan(1);
    return { peer, clock, called, asked };
  }

  test("receives an input request after notifications/initialized", async () => {
    const { peer, called, asked } = await halfOpen();
    expect(asked()).toEqual([]);
    peer.notify("notifications/initialized");
    peer.answer(await peer.nextRequest("roots/list"), { roots: [] });
    expect((await called).result).toMatchObject({ content: [{ text: "0 roots" }] });
  });

  test("receives an input request after one second without notifications/initialized", async () => {
    const { peer, clock, asked } = await halfOpen();
    await clock.advance(999);
    expect(asked()).toEqual([]);
    await clock.advance(1);
    await peer.nextRequest("roots/list");
  });

  test("receives no input request that was withdrawn before", async () => {
    const { peer, clock, asked } = await halfOpen();
    peer.notify("notifications/cancelled", { requestId: "call" });
    await clock.advance(1_000);
    peer.notify("notifications/initialized");
    await peer.settled();
    expect(asked()).toEqual([]);
  });
});

describe("limits", () => {
  test("one call more than the limit of calls in flight is rejected", async () => {
    const server = createServer({
      name: "x",
      version: "1",
      limits: { inFlight: 2 },
      tools: { hang: tool({ call: () => new Promise<string>(() => {}) }) },
    });
    for (const meta of [undefined, modernMeta(modern)]) {
      const peer = await rawPeer(server, meta && { meta });
      if (!meta) await openSession(peer, "2025-11-25");
      const params = { name: "hang", ...(meta && { _meta: meta }) };
      for (const id of ["a", "b"]) peer.send({ jsonrpc: "2.0", id, method: "tools/call", params });
      const { error } = await peer.request("tools/call", { name: "hang" });
      expect(error).toMatchObject({
        code: -32600,
        message: expect.stringContaining("2 calls are in flight") as string,
      });
    }
  });

  test("any number of connections share one definition", async () => {
    const server = example();
    const peers = await Promise.all(Array.from({ length: 50 }, () => rawPeer(server, { meta: modernMeta(modern) })));
    const answers = await Promise.all(
      peers.map((peer, index) =>
        peer.request("tools/call", { name: "echo", arguments: { text: `${index}` } }, { id: 1 }),
      ),
    );
    expect(answers.map(({ result }) => (result.content as { text: string }[])[0]?.text)).toEqual(
      peers.map((_, index) => `${index}`),
    );
  });
});

test.each(["2025-11-25", modern])("a call whose handler closes its connection is cancelled: %s", async (version) => {
  let receiver!: Receiver;
  const aborted: unknown[] = [];
  const quit = tool({
    call: (_, ctx) => {
      receiver.closed();
      return new Promise<string>((resolve) => {
        const end = (): void => {
          aborted.push(ctx.signal.reason);
          resolve("");
        };
        if (ctx.signal.aborted) end();
        else ctx.signal.addEventListener("abort", end);
      });
    },
  });
  const server = createServer({ name: "example", version: "1.0.0", tools: { quit } });
  const connection = await server.attach({
    start: (given) => void (receiver = given),
    send: () => {},
    close: () => Promise.resolve(),
  });
  const isLegacy = version !== modern;
  if (isLegacy) {
    const params = { protocolVersion: version, capabilities: {}, clientInfo: { name: "c", version: "1" } };
    receiver.message({ jsonrpc: "2.0", id: 0, method: "initialize", params });
  }
  const params = isLegacy ? { name: "quit" } : { name: "quit", _meta: modernMeta(modern) };
  receiver.message({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
  await connection.closed;
  expect(aborted).toEqual([expect.objectContaining({ code: "closed" })]);
});
