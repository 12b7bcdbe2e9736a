import { beforeAll, describe, expect, test } from "vitest";
import { toFetch } from "../../http/fetch/to-fetch.ts";
import { fakeClock } from "../../testing/fake-clock.ts";
import { type RawPeer, modernMeta, openPeer, openSession, rawPeer } from "mcparley-tests/support/raw-peer.ts";
import { rawHttp } from "mcparley-tests/support/raw-http.ts";
import { createServer } from "../create-server.ts";
import { tool } from "../definition.ts";
import type { ClientSession, Context } from "../core/context.ts";
import type { AnyServerDefinition } from "../core/options.ts";

const reserved = [
  "",
  "notifications/progress",
  "notifications/message",
  "notifications/tools/list_changed",
  "notifications/tasks",
  "notifications/elicitation/complete",
  "progress",
  "tools/call",
  "rpc.discover",
  "x".repeat(257),
];

function serve(call: (ctx: Context) => unknown, more: Partial<AnyServerDefinition> = {}) {
  const errors: unknown[] = [];
  const server = createServer({
    name: "s",
    version: "1",
    onError: (error: unknown) => errors.push(error),
    tools: { t: tool({ call: (_, ctx) => call(ctx) as string }) },
    ...more,
  });
  return { server, errors };
}

const custom = ({ received }: RawPeer): unknown[] =>
  received.flatMap((message) =>
    "method" in message && message.method.includes("example") ? [[message.method, message.params]] : [],
  );

beforeAll(() => import("../features/tools.ts"));

describe.each(["2024-11-05", "2025-11-25", "2026-07-28"])("on %s", (version) => {
  const open = (server: ReturnType<typeof serve>["server"]): Promise<RawPeer> => openPeer(server, version);

  test("a call sends custom notifications before its result, and no notification afterwards", async () => {
    let later!: Context;
    const { server } = serve((ctx) => {
      later = ctx;
      ctx.notify("com.example/step", { step: 1, _meta: { "com.example/a": 1 } });
      ctx.notify("notifications/example");
      return "done";
    });
    const peer = await open(server);
    await peer.request("tools/call", { name: "t" });
    later.notify("com.example/late");
    await peer.settled();
    expect(custom(peer)).toEqual([
      ["com.example/step", { step: 1, _meta: { "com.example/a": 1 } }],
      ["notifications/example", undefined],
    ]);
    expect(peer.received.at(-1)).toHaveProperty("result");
  });

  test.each(reserved)("a call cannot send %j", async (method) => {
    const { server } = serve((ctx) => {
      expect(() => ctx.notify(method)).toThrow(TypeError);
      return "refused";
    });
    const peer = await open(server);
    const { result } = await peer.request("tools/call", { name: "t" });
    expect(result.content).toMatchObject([{ text: "refused" }]);
    expect(peer.received.filter((message) => "method" in message)).toEqual([]);
  });

  test("keys of _meta that the specification forbids are rejected", async () => {
    const { server } = serve((ctx) => {
      for (const send of [
        () => ctx.notify("com.example/a", { _meta: { "a b": 1 } }),
        () => ctx.log.error("x", "y", { "a b": 1 }),
      ])
        expect(send).toThrow('the invalid key "a b"');
      return "refused";
    });
    const peer = await open(server);
    if (version !== "2026-07-28") await peer.request("logging/setLevel", { level: "debug" });
    const meta =
      version === "2026-07-28" ? modernMeta(version, {}, { "io.modelcontextprotocol/logLevel": "debug" }) : {};
    const { result } = await peer.request("tools/call", { name: "t", _meta: meta });
    expect(result.content).toMatchObject([{ text: "refused" }]);
  });

  test("custom notifications of a client reach the server in order, and those of MCP do not", async () => {
    const seen: unknown[] = [];
    const sessions = new Set<ClientSession | undefined>();
    const { server } = serve(() => "", {
      onNotification: async ({ method, params }, session) => {
        sessions.add(session);
        // The first one takes the longest.
        for (let turn = 5 - seen.length; turn > 0; turn--) await Promise.resolve();
        seen.push([method, params]);
      },
    });
    const peer = await open(server);
    for (let n = 0; n < 3; n++) peer.notify("com.example/n", { n });
    peer.notify("com.example/bare");
    for (const method of [
      "notifications/initialized",
      "notifications/roots/list_changed",
      "notifications/tasks",
      "rpc.x",
    ])
      peer.notify(method);
    await peer.settled();
    expect(seen).toEqual([
      ["com.example/n", { n: 0 }],
      ["com.example/n", { n: 1 }],
      ["com.example/n", { n: 2 }],
      ["com.example/bare", {}],
    ]);
    const [session, ...others] = sessions;
    expect(others).toEqual([]);
    expect(session === undefined).toBe(version === "2026-07-28");
  });
});

test("a session sends custom notifications outside of calls until it ends", async () => {
  let session: ClientSession | undefined;
  const { server } = serve((ctx) => {
    session = ctx.session;
    return "";
  });
  const peer = await rawPeer(server);
  await openSession(peer, "2025-11-25");
  await peer.request("tools/call", { name: "t" });
  expect(session?.peer.info).toMatchObject({ name: "raw-peer" });
  expect(session?.notify("com.example/later", { a: 1 })).toBe(true);
  await peer.nextNotification("com.example/later");
  for (const method of reserved) expect(() => session?.notify(method), method).toThrow(TypeError);
  await peer.close();
  await peer.settled();
  expect(session?.notify("com.example/too-late")).toBe(false);
});

test("a session that ends with its request sends nothing outside of calls", async () => {
  let session: ClientSession | undefined;
  const { server } = serve((ctx) => {
    session = ctx.session;
    return "";
  });
  const { fetch, close } = toFetch(server, { sessions: false });
  const client = rawHttp("http://localhost/mcp", fetch);
  const headers = { "mcp-protocol-version": "2025-11-25" };
  await client.post({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "t" } }, headers);
  expect(session?.notify("com.example/later")).toBe(false);
  await close();
});

test("a modern client over HTTP can send custom notifications", async () => {
  const seen: unknown[] = [];
  const { server } = serve(() => "", { onNotification: (message, session) => seen.push([message, session]) });
  const { fetch, close } = toFetch(server);
  const client = rawHttp("http://localhost/mcp", fetch);
  const headers = { "mcp-protocol-version": "2026-07-28" };
  for (const method of ["com.example/a", "notifications/cancelled"]) {
    expect((await client.post({ jsonrpc: "2.0", method, params: { a: 1 } }, headers)).status).toBe(202);
  }
  await expect.poll(() => seen).toEqual([[{ method: "com.example/a", params: { a: 1 } }, undefined]]);
  await close();
});

test("100 notifications wait for the handler, and the loss of further ones is reported once", async () => {
  let open!: () => void;
  const gate = new Promise<void>((resolve) => (open = resolve));
  const seen: unknown[] = [];
  const { server, errors } = serve(() => "", {
    onNotification: async ({ params }) => {
      await gate;
      seen.push(params.n);
    },
  });
  const peer = await rawPeer(server);
  await openSession(peer, "2025-11-25");
  for (let n = 0; n < 1000; n++) peer.notify("com.example/n", { n });
  await peer.settled();
  expect(errors).toMatchObject([{ code: "too_large" }]);
  open();
  await peer.settled();
  // One ran when the others arrived.
  expect(seen).toEqual(Array.from({ length: 101 }, (_, n) => n));
  peer.notify("com.example/n", { n: "after" });
  await peer.settled();
  expect(seen.at(-1)).toBe("after");
  expect(errors.length).toBe(1);
});

test("an error of the handler is reported, as are params that are nested too deep", async () => {
  const { server, errors } = serve(() => "", {
    onNotification: () => {
      throw new Error("broken");
    },
  });
  const peer = await rawPeer(server);
  await openSession(peer, "2025-11-25");
  peer.notify("com.example/a");
  const deep = Array.from({ length: 900 }).reduce<object>((a) => ({ a }), {});
  peer.notify("com.example/b", { deep });
  await peer.settled();
  expect(errors.map(String).toSorted()).toEqual([expect.stringContaining("broken"), expect.stringContaining("nested")]);
});

test("onRootsChanged receives the session of the client's later calls, and its error is reported", async () => {
  const changed: ClientSession[] = [];
  let called: ClientSession | undefined;
  const { server, errors } = serve(
    (ctx) => {
      called = ctx.session;
      return "";
    },
    {
      clock: fakeClock(),
      onRootsChanged: (session) => {
        changed.push(session);
        throw new Error("broken");
      },
    },
  );
  const [one, two] = [await rawPeer(server), await rawPeer(server)];
  for (const peer of [one, two]) await openSession(peer, "2025-11-25", { roots: { listChanged: true } });
  two.notify("notifications/roots/list_changed");
  await two.settled();
  await one.request("tools/call", { name: "t" });
  expect(changed).not.toContain(called);
  await two.request("tools/call", { name: "t" });
  expect(changed).toEqual([called]);
  expect(errors.map(String)).toEqual(["Error: broken"]);
});
