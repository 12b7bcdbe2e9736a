import { describe, expect, test, vi } from "vitest";
import { LocalError } from "../../rpc/errors.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import { flushPromises } from "../../testing/fake-clock.ts";
import { discoverResult, legacyPeer, modernPeer, peerTransports } from "../../testing/peer-transports.ts";
import { scriptedPeer } from "../../testing/scripted-peer.ts";
import { openClient } from "../open-client.ts";
import type { ConnectOptions } from "../options.ts";

const text = (value: string): JsonObject => ({ content: [{ type: "text", text: value }] });
const http = (...peers: Parameters<typeof peerTransports>): ReturnType<typeof peerTransports> =>
  Object.assign(peerTransports(...peers), { kind: "http" as const });
const lost = (): LocalError => new LocalError("session_lost", "404: the session is gone");
const legacy = { revision: "2025-11-25" };

describe("a lost session", () => {
  test("is replaced once for all waiting calls, each of which is repeated", async () => {
    const [first, second] = [legacyPeer(), legacyPeer()];
    const dialer = http(first, second);
    const client = await openClient(dialer, legacy);
    await first.notification("notifications/initialized");
    const calls = ["a", "b", "c"].map((name) => client.callTool(name));
    const requests = [
      await first.request("tools/call"),
      await first.request("tools/call"),
      await first.request("tools/call"),
    ];
    for (const request of requests) first.fail(request, lost());
    await second.notification("notifications/initialized");
    for (const name of ["a", "b", "c"]) {
      const again = await second.request("tools/call");
      expect(again.params?.name).toBe(name);
      second.answer(again, text(name));
    }
    expect(await Promise.all(calls)).toEqual(["a", "b", "c"]);
    expect(dialer.opened).toBe(2);
    expect(first.isClosed).toBe(true);
    expect(client.state).toBe("open");
  });

  test("stays open until the calls that its server still answers have ended", async () => {
    const [first, second] = [legacyPeer(), legacyPeer()];
    const client = await openClient(http(first, second), legacy);
    await first.notification("notifications/initialized");
    const [slow, failing] = [client.callTool("slow"), client.callTool("failing")];
    const running = await first.request("tools/call");
    first.fail(await first.request("tools/call"), lost());
    await second.notification("notifications/initialized");
    second.answer(await second.request("tools/call"), text("again"));
    expect(await failing).toBe("again");
    expect(first.isClosed).toBe(false);
    first.answer(running, text("slow"));
    expect(await slow).toBe("slow");
    await flushPromises();
    expect(first.isClosed).toBe(true);
  });

  test("fails the call if its replacement is lost as well", async () => {
    const [first, second] = [legacyPeer(), legacyPeer()];
    const client = await openClient(http(first, second), legacy);
    await first.notification("notifications/initialized");
    const calling = client.callTool("a");
    calling.catch(() => {});
    first.fail(await first.request("tools/call"), lost());
    await second.notification("notifications/initialized");
    second.fail(await second.request("tools/call"), lost());
    await expect(calling).rejects.toMatchObject({ code: "session_lost" });
  });
});

describe("outdated header mappings", () => {
  const inputSchema = (header: string): JsonObject => ({
    type: "object",
    properties: {
      region: { type: "string", "x-mcp-header": header },
      n: { type: "object", properties: { deep: { type: "integer", "x-mcp-header": "Deep" } } },
    },
  });
  const lists = (...headers: string[]): Record<string, () => JsonObject> => ({
    "tools/list": () => ({
      tools: [{ name: "a", inputSchema: inputSchema((headers.length > 1 ? headers.shift() : headers[0]) ?? "") }],
      ttlMs: 60_000,
    }),
  });

  test("parameters are mirrored in headers, except missing and null ones", async () => {
    const peer = modernPeer({ answers: lists("Region") });
    const client = await openClient(http(peer));
    await client.listTools().all();
    for (const [args, headers] of [
      [{ region: "us-west1" }, { "Mcp-Param-Region": "us-west1" }],
      [
        { region: "日本", n: { deep: 4 } },
        { "Mcp-Param-Region": "=?base64?5pel5pys?=", "Mcp-Param-Deep": "4" },
      ],
      [{ region: null }, {}],
      [{}, {}],
    ] as const) {
      const calling = client.callTool("a", args);
      peer.answer(await peer.request("tools/call"), text("x"));
      await calling;
      expect(peer.arrived.at(-1)?.envelope).toEqual({ headers });
    }
  });

  test("an unknown tool is looked up once", async () => {
    const peer = modernPeer({ answers: lists("Region") });
    const client = await openClient(http(peer));
    for (const name of ["a", "a", "b", "b"]) {
      const calling = client.callTool(name, { region: "x" });
      const request = await peer.request("tools/call");
      peer.answer(request, text("x"));
      await calling;
    }
    const listed = peer.arrived.filter(({ message }) => "method" in message && message.method === "tools/list");
    expect(listed.length).toBe(1);
    expect(peer.arrived.at(-1)?.envelope).toBeUndefined();
  });

  test("a tool is called although the list is unavailable", async () => {
    const errors: Error[] = [];
    const peer = modernPeer();
    const client = await openClient(http(peer), { onError: (error) => errors.push(error) });
    const calling = client.callTool("a");
    peer.refuse(await peer.request("tools/list"), { code: -32603, message: "not now" });
    peer.answer(await peer.request("tools/call"), text("x"));
    expect(await calling).toBe("x");
    expect(errors.map(({ message }) => message)).toEqual(["not now"]);
  });

  test("HeaderMismatch bypasses the cache to read the list again, and repeats the call once", async () => {
    const peer = modernPeer({ answers: lists("Old", "New") });
    const client = await openClient(http(peer));
    await client.listTools().all();
    const calling = client.callTool("a", { region: "x" });
    const first = await peer.request("tools/call");
    expect(peer.arrived.at(-1)?.envelope).toEqual({ headers: { "Mcp-Param-Old": "x" } });
    peer.refuse(first, { code: -32020, message: "Header mismatch" });
    const second = await peer.request("tools/call");
    expect(peer.arrived.at(-1)?.envelope).toEqual({ headers: { "Mcp-Param-New": "x" } });
    expect(second.id).not.toBe(first.id);
    peer.refuse(second, { code: -32020, message: "Header mismatch again" });
    await expect(calling).rejects.toMatchObject({ code: -32020, message: "Header mismatch again" });
  });

  test("a stream has no headers, so the tools are not listed", async () => {
    const peer = modernPeer();
    const client = await openClient(peerTransports(peer));
    const calling = client.callTool("a", { region: "x" });
    calling.catch(() => {});
    peer.refuse(await peer.request("tools/call"), { code: -32020, message: "odd" });
    await expect(calling).rejects.toMatchObject({ code: -32020 });
    expect(peer.arrived.length).toBe(2);
    expect(peer.arrived[1]?.envelope).toBeUndefined();
  });
});

describe("a server that ends unexpectedly", () => {
  const exited = (): LocalError => new LocalError("exited", "node server.js exited with code 1.");

  test("rejects calls in flight with safeToRepeat, and is started again by the next call", async () => {
    const [first, second] = [modernPeer(), modernPeer()];
    const errors: Error[] = [];
    const dialer = peerTransports(first, second);
    const client = await openClient(dialer, { onError: (error) => errors.push(error) });
    const [called, read] = [client.callTool("a"), client.readResource("a:b")];
    for (const call of [called, read]) call.catch(() => {});
    await first.request("tools/call");
    first.close(exited());
    await expect(called).rejects.toMatchObject({ code: "exited", data: { safeToRepeat: false } });
    await expect(called).rejects.toThrow(
      'The connection was lost before tools/call "a" was answered. The server may have run it. Repeat it only if it is safe to run twice. node server.js exited with code 1.',
    );
    await expect(read).rejects.toThrow("It is safe to repeat it.");
    expect(client.state).toBe("reconnecting");
    expect(errors.map(({ message }) => message)).toEqual(["node server.js exited with code 1."]);
    expect(dialer.opened).toBe(1);
    const calls = [client.callTool("a"), client.callTool("b")];
    for (let both = 0; both < 2; both++) second.answer(await second.request("tools/call"), text("x"));
    expect(await Promise.all(calls)).toEqual(["x", "x"]);
    expect(dialer.opened).toBe(2);
    expect(client.state).toBe("open");
  });

  test("a tool with readOnlyHint is safe to repeat", async () => {
    const tools = [{ name: "a", inputSchema: {}, annotations: { readOnlyHint: true } }];
    const peer = modernPeer({ answers: { "tools/list": () => ({ tools }) } });
    const client = await openClient(peerTransports(peer));
    await client.listTools().all();
    const calling = client.callTool("a");
    calling.catch(() => {});
    await peer.request("tools/call");
    peer.close();
    await expect(calling).rejects.toMatchObject({ code: "closed", data: { safeToRepeat: true } });
  });

  test("closes a client with a custom transport", async () => {
    const peer = modernPeer();
    const client = await openClient({ ...peerTransports(peer), once: true });
    peer.close(exited());
    await client.closed;
    expect(client.state).toBe("closed");
    await expect(client.callTool("a")).rejects.toThrow("exited with code 1");
  });

  test("a server that does not start again fails the call, and the next call tries again", async () => {
    const [first, second, third] = [modernPeer(), scriptedPeer(), modernPeer()];
    const client = await openClient(
      peerTransports(
        first,
        Object.assign(second, { transport: { ...second.transport, start: () => Promise.reject(exited()) } }),
        third,
      ),
    );
    first.close();
    await flushPromises();
    await expect(client.callTool("a")).rejects.toMatchObject({ code: "exited" });
    const calling = client.callTool("a");
    third.answer(await third.request("tools/call"), text("x"));
    expect(await calling).toBe("x");
  });

  test("a failed write rejects only its own call", async () => {
    const peer = modernPeer();
    const { transport } = peer;
    const send: typeof transport.send = (message, envelope) => {
      if ("params" in message && (message.params as JsonObject).name === "bad")
        return Promise.reject(new Error("EPIPE"));
      return transport.send(message, envelope);
    };
    const client = await openClient(peerTransports({ ...peer, transport: { ...transport, send } }));
    await expect(client.callTool("bad")).rejects.toThrow(/connection was lost before tools\/call "bad" .* EPIPE$/);
    const calling = client.callTool("good");
    peer.answer(await peer.request("tools/call"), text("x"));
    expect(await calling).toBe("x");
  });
});

describe("safeToRepeat", () => {
  const tools = [
    { name: "reads", inputSchema: {}, annotations: { readOnlyHint: true } },
    { name: "sets", inputSchema: {}, annotations: { idempotentHint: true } },
    { name: "adds", inputSchema: {}, annotations: { readOnlyHint: false, idempotentHint: false } },
    { name: "silent", inputSchema: {} },
  ];
  const extension = { id: "com.example/notes", repeatable: ["notes/read"] };

  async function failing(method: string, name: string | undefined, error: Error): Promise<unknown> {
    const peer = modernPeer({ answers: { "tools/list": () => ({ tools }) } });
    const client = await openClient(peerTransports(peer), { extensions: [extension] });
    await client.listTools().all();
    const calling = client.request(method, name === undefined ? {} : { name });
    calling.catch(() => {});
    await flushPromises();
    const request = peer.arrived.map(({ message }) => message).find((one) => "method" in one && one.method === method);
    peer.fail(request as { id: number }, error);
    return calling.catch((reason: unknown) => reason);
  }

  const uncertain = [
    new LocalError("closed", "reset"),
    new LocalError("exited", "gone"),
    new LocalError("timeout", "slow"),
    ...[408, 429, 500, 502, 503, 504].map((status) => new LocalError("http", String(status), { data: { status } })),
  ];

  test.each([
    ["tools/call", "reads", true],
    ["tools/call", "sets", true],
    ["tools/call", "adds", false],
    ["tools/call", "silent", false],
    ["tools/call", "unlisted", false],
    ["resources/read", undefined, true],
    ["prompts/get", "review", true],
    ["tasks/cancel", undefined, false],
    ["notes/write", undefined, false],
    ["notes/read", undefined, true],
  ])(
    "of %s %s is %s for each error after which it is unknown whether the server has run it",
    async (method, name, safe) => {
      for (const error of uncertain) {
        const data = error.data === undefined ? {} : error.data;
        expect(await failing(method, name, error)).toMatchObject({
          code: error.code,
          data: { ...data, safeToRepeat: safe },
        });
      }
    },
  );

  test("is true if the server cannot have received the request", async () => {
    const error = new LocalError("unreachable", "refused", { data: { host: "h" } });
    const expected = { code: "unreachable", message: "refused", data: { host: "h", safeToRepeat: true } };
    expect(await failing("tools/call", "adds", error)).toMatchObject(expected);
  });

  test.each([
    new LocalError("http", "404", { data: { status: 404 } }),
    new LocalError("unauthorized", "401", { data: { status: 401 } }),
    new LocalError("invalid_message", "no JSON"),
  ])("is absent if it is known whether the server has run the call: $code", async (error) => {
    expect(await failing("tools/call", "reads", error)).toBe(error);
  });

  test("is in the error of a call that closing the client interrupts", async () => {
    const peer = modernPeer();
    const client = await openClient(peerTransports(peer));
    const calling = client.callTool("adds");
    calling.catch(() => {});
    await peer.request("tools/call");
    await client.close();
    await expect(calling).rejects.toMatchObject({
      code: "closed",
      message: "The client was closed.",
      data: { safeToRepeat: false },
    });
  });
});

describe("a version that the server no longer supports", () => {
  const error = { code: -32022, message: "no", data: { supported: ["2026-07-28", "2025-11-25"] } };

  test("is replaced by another common version, and the call is repeated once", async () => {
    const [first, second] = [modernPeer(), modernPeer()];
    const client = await openClient(http(first, second));
    const asking = client.readResource("a:b");
    first.refuse(await first.request("resources/read"), error);
    second.answer(await second.request("resources/read"), { contents: [] });
    await asking;
  });

  test("is replaced by a legacy version if the server supports only that", async () => {
    const [first, second] = [modernPeer(), legacyPeer()];
    const client = await openClient(http(first, second));
    const asking = client.readResource("a:b");
    first.refuse(await first.request("resources/read"), { ...error, data: { supported: ["2025-11-25"] } });
    second.fail(await second.request("server/discover"), new LocalError("http", "400"));
    await second.notification("notifications/initialized");
    const again = await second.request("resources/read");
    expect(again.params?._meta).toEqual({ progressToken: again.id });
    second.answer(again, { contents: [] });
    await asking;
    expect(client.server.revisionKind).toBe("legacy");
  });

  test("fails if the revision is pinned", async () => {
    const peer = modernPeer();
    const client = await openClient(http(peer), { revision: "2026-07-28" } satisfies ConnectOptions);
    const asking = client.readResource("a:b");
    asking.catch(() => {});
    peer.refuse(await peer.request("resources/read"), error);
    await expect(asking).rejects.toMatchObject({ code: -32022 });
  });
});

test("closing during a restart of the server rejects the call and closes the connection", async () => {
  const [first, second] = [modernPeer(), scriptedPeer()];
  const client = await openClient(peerTransports(first, second));
  first.close();
  await flushPromises();
  const calling = client.callTool("a");
  calling.catch(() => {});
  const probe = await second.request("server/discover");
  await client.close();
  await expect(calling).rejects.toMatchObject({ code: "closed" });
  expect(second.isClosed).toBe(true);
  expect(client.inFlight).toBe(0);
  second.answer(probe, discoverResult());
});

test("a call whose params of several extensions are refused is confirmed once, and sent once more without them", async () => {
  const discovered = vi.fn(() => discoverResult());
  const peer = modernPeer({ answers: { "server/discover": discovered } });
  const confirm = vi.fn(() => true);
  const client = await openClient(peerTransports(peer), {
    confirm,
    extensions: ["first", "second", "third"].map((name) => ({
      id: `com.example/${name}`,
      prepare: () => ({ [name]: true }),
    })),
  });
  const running = client.callToolResult("t", { a: 1 });
  running.catch(() => {});
  const refused = await peer.request("tools/call");
  expect(refused.params).toMatchObject({ first: true, second: true, third: true });
  peer.refuse(refused, { code: -32601, message: "No such params." });
  const repeated = await peer.request("tools/call");
  expect(Object.keys(repeated.params ?? {}).toSorted()).toEqual(["_meta", "arguments", "name"]);
  peer.answer(repeated, { resultType: "complete", ...text("done") });
  expect(await running).toMatchObject(text("done"));
  expect(confirm).toHaveBeenCalledTimes(1);
  // The refusal of the params is no reason to ask for the revision of the server.
  expect(discovered).toHaveBeenCalledTimes(1);
  await client.close();
});
