import { describe, expect, test } from "vitest";
import { LocalError, ProtocolError } from "../../rpc/errors.ts";
import type { JsonRpcRequest } from "../../rpc/messages.ts";
import { tool } from "../../server/definition.ts";
import { createServer } from "../../server/create-server.ts";
import { fakeClock, flushPromises } from "../../testing/fake-clock.ts";
import { legacyPeer, modernPeer, peerTransports } from "../../testing/peer-transports.ts";
import type { Client } from "../client.ts";
import { serverTransports } from "../connect/transports.ts";
import { openClient } from "../open-client.ts";
import type { CallRecord } from "../../mcp/observe.ts";
import type { ConnectOptions } from "../options.ts";

const text = (value: string): { content: object[] } => ({ content: [{ type: "text", text: value }] });

async function modern(
  options: ConnectOptions = {},
): Promise<{ peer: ReturnType<typeof modernPeer>; client: Client; errors: Error[] }> {
  const errors: Error[] = [];
  const peer = modernPeer();
  const client = await openClient(peerTransports(peer), { onError: (error) => errors.push(error), ...options });
  return { peer, client, errors };
}

async function legacy(
  options: ConnectOptions = {},
): Promise<{ peer: ReturnType<typeof legacyPeer>; client: Client; errors: Error[] }> {
  const errors: Error[] = [];
  const peer = legacyPeer();
  const given = { revision: "2025-11-25", onError: (error: Error) => errors.push(error), ...options };
  const client = await openClient(peerTransports(peer), given);
  await peer.notification("notifications/initialized");
  return { peer, client, errors };
}

const tokenOf = ({ params }: JsonRpcRequest): unknown =>
  (params?._meta as { progressToken?: unknown } | undefined)?.progressToken;

describe("progress", () => {
  test.each(["2026-07-28", "2025-11-25"])(
    "100 of 100 progress notifications sent just before the result are delivered (%s)",
    async (revision) => {
      const many = tool({
        call: (_, ctx) => {
          for (let done = 1; done <= 100; done++) ctx.progress(done, 100);
          return "done";
        },
      });
      const server = createServer({ name: "s", version: "1", tools: { many } });
      const client = await openClient(serverTransports(server), { revision });
      const seen: number[] = [];
      let before = -1;
      await client
        .callTool("many", {}, { onProgress: ({ progress }) => seen.push(progress) })
        .then(() => (before = seen.length));
      expect(before).toBe(100);
      expect(seen).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
      await client.close();
    },
  );

  test("late progress is ignored, and progress with an unknown token is reported", async () => {
    const { peer, client, errors } = await modern();
    const calling = client.callTool("a");
    const request = await peer.request("tools/call");
    peer.answer(request, text("x"));
    peer.notify("notifications/progress", { progressToken: tokenOf(request), progress: 1 });
    await calling;
    peer.notify("notifications/progress", { progressToken: tokenOf(request), progress: 2 });
    expect(errors).toEqual([]);
    for (const progressToken of [99, -1, 0.5, String(tokenOf(request)), undefined]) {
      peer.notify("notifications/progress", { progressToken, progress: 1 });
    }
    expect(errors.map(({ message }) => message.replace(/.* token /, ""))).toEqual([
      "99.",
      "-1.",
      "0.5.",
      '"1".',
      "undefined.",
    ]);
  });

  test("an error thrown by onProgress is reported, and the call continues", async () => {
    const { peer, client, errors } = await modern();
    const calling = client.callTool("a", {}, { onProgress: () => expect.fail("mine") });
    const request = await peer.request("tools/call");
    peer.notify("notifications/progress", { progressToken: tokenOf(request), progress: 1 });
    peer.answer(request, text("x"));
    expect(await calling).toBe("x");
    expect(errors.map(({ message }) => message)).toEqual(["mine"]);
  });
});

describe("responses", () => {
  test("are matched by type and value of their id, and unknown ids are reported", async () => {
    const { peer, client, errors } = await modern();
    const calling = client.callTool("a");
    const { id } = await peer.request("tools/call");
    peer.answer({ id: String(id) }, text("for the string"));
    peer.answer({ id: 77 }, text("for nobody"));
    peer.send({ jsonrpc: "2.0", id: null, error: { code: -32700, message: "Parse error" } });
    expect(errors.length).toBe(3);
    expect(client.inFlight).toBe(1);
    peer.answer({ id }, text("for the number"));
    expect(await calling).toBe("for the number");
    peer.answer({ id }, text("again"));
    expect(errors.length).toBe(4);
    expect(errors[3]?.message).toContain("a response with the unknown id 1");
  });

  test("a malformed response fails its call, and other calls continue", async () => {
    const { peer, client, errors } = await modern();
    const [one, two] = [client.callTool("a"), client.callTool("b")];
    one.catch(() => {});
    const [first, second] = [await peer.request("tools/call"), await peer.request("tools/call")];
    peer.send({ jsonrpc: "2.0", id: first.id, result: "text" });
    peer.answer(second, text("fine"));
    await expect(one).rejects.toMatchObject({ code: "invalid_message" });
    expect(await two).toBe("fine");
    expect(errors).toEqual([]);
  });

  test("an invalid message is reported", async () => {
    const { peer, errors } = await modern();
    for (const value of [null, 1, "x", {}, { jsonrpc: "1.0", method: "a" }, []]) peer.send(value);
    peer.malformed(new LocalError("too_large", "a line of 20 MiB"));
    expect(errors.map((error) => (error as LocalError).code)).toEqual([
      ...Array<string>(5).fill("invalid_message"),
      "too_large",
    ]);
  });

  test("the messages of a batch are processed in order", async () => {
    const { peer, client } = await legacy();
    const seen: unknown[] = [];
    const calling = client.callTool("a", {}, { onProgress: ({ progress }) => seen.push(progress) });
    const request = await peer.request("tools/call");
    const progress = { progressToken: tokenOf(request), progress: 1 };
    peer.send([
      { jsonrpc: "2.0", method: "notifications/progress", params: progress },
      { jsonrpc: "2.0", id: request.id, result: text("x") },
    ]);
    expect(await calling).toBe("x");
    expect(seen).toEqual([1]);
  });
});

describe("time limits", () => {
  test("a progress token is always sent, and progress restarts the idle limit", async () => {
    const clock = fakeClock();
    const { peer, client } = await modern({ clock });
    const calling = client.callTool("a");
    const request = await peer.request("tools/call");
    expect(tokenOf(request)).toBe(request.id);
    for (let at = 0; at < 5; at++) {
      await clock.advance(59_000);
      peer.notify("notifications/progress", { progressToken: tokenOf(request), progress: at });
    }
    await clock.advance(59_999);
    expect(client.inFlight).toBe(1);
    peer.answer(request, text("x"));
    expect(await calling).toBe("x");
    expect(clock.pending).toBe(0);
  });

  test("a call without a response times out, the server is notified, and a late response is ignored", async () => {
    const clock = fakeClock();
    const { peer, client, errors } = await modern({ clock });
    const calling = client.callTool("a");
    calling.catch(() => {});
    const request = await peer.request("tools/call");
    await clock.advance(60_000);
    await expect(calling).rejects.toThrow(
      'tools/call "a" was not answered within 60000 ms, and no progress was reported.',
    );
    const { params } = await peer.notification("notifications/cancelled");
    expect(params).toMatchObject({ requestId: request.id });
    peer.answer(request, text("late"));
    expect(errors).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  test("a number as the limit is rejected with the form to use", async () => {
    const { client } = await modern({});
    const calling = client.callTool("a", {}, { timeout: 5000 as never });
    await expect(calling).rejects.toThrow("timeout must be { idle, total } in milliseconds, such as { total: 5000 }");
  });

  test("progress does not extend the total limit", async () => {
    const clock = fakeClock();
    const { peer, client } = await modern({ clock });
    const calling = client.callTool("a", {}, { timeout: { idle: 1000, total: 2500 } });
    calling.catch(() => {});
    const request = await peer.request("tools/call");
    for (let at = 0; at < 3; at++) {
      await clock.advance(900);
      peer.notify("notifications/progress", { progressToken: tokenOf(request), progress: at });
    }
    await expect(calling).rejects.toThrow("2500 ms in total");
  });

  test("a limit longer than the longest timer never expires", async () => {
    const clock = fakeClock();
    const { peer, client } = await modern({ clock });
    const calling = client.callTool("a", {}, { timeout: { idle: Infinity, total: Infinity } });
    const request = await peer.request("tools/call");
    expect(clock.pending).toBe(0);
    peer.answer(request, text("x"));
    expect(await calling).toBe("x");
  });

  test("the time limits are stopped during an elicitation in a legacy session", async () => {
    const clock = fakeClock();
    let answer!: (result: { action: "decline" }) => void;
    const { peer, client } = await legacy({ clock, elicit: () => new Promise((resolve) => (answer = resolve)) });
    const calling = client.callTool("a", {}, { timeout: { idle: 1000, total: 2000 } });
    const request = await peer.request("tools/call");
    await clock.advance(900);
    peer.ask(1, "elicitation/create", { message: "who?", requestedSchema: { type: "object", properties: {} } });
    await clock.advance(3_600_000);
    answer({ action: "decline" });
    expect(await peer.next()).toMatchObject({ id: 1, result: { action: "decline" } });
    await clock.advance(900);
    peer.answer(request, text("x"));
    expect(await calling).toBe("x");
  });

  test("the time limits are stopped during an elicitation between the rounds of a modern call", async () => {
    const clock = fakeClock();
    let answer!: (result: { action: "decline" }) => void;
    const { peer, client } = await modern({ clock, elicit: () => new Promise((resolve) => (answer = resolve)) });
    const calling = client.callTool("a", {}, { timeout: { idle: 1000, total: 2000 } });
    const question = {
      method: "elicitation/create",
      params: { message: "?", requestedSchema: { type: "object", properties: {} } },
    };
    peer.answer(await peer.request("tools/call"), { resultType: "input_required", inputRequests: { q: question } });
    await clock.advance(3_600_000);
    answer({ action: "decline" });
    const retry = await peer.request("tools/call");
    await clock.advance(999);
    peer.answer(retry, text("x"));
    expect(await calling).toBe("x");
  });

  test("the total limit applies to all rounds of a call together", async () => {
    const clock = fakeClock();
    const { peer, client } = await modern({ clock, roots: [] });
    const calling = client.callTool("a", {}, { timeout: { idle: 1000, total: 2000 } });
    calling.catch(() => {});
    for (let round = 0; round < 2; round++) {
      const request = await peer.request("tools/call");
      await clock.advance(900);
      peer.answer(request, { resultType: "input_required", inputRequests: { r: { method: "roots/list" } } });
    }
    await peer.request("tools/call");
    await clock.advance(200);
    await expect(calling).rejects.toMatchObject({ code: "timeout" });
  });

  test("the time limits are stopped while a call waits for confirm", async () => {
    const clock = fakeClock();
    let confirm!: (yes: boolean) => void;
    const { peer, client } = await modern({ clock, confirm: () => new Promise((resolve) => (confirm = resolve)) });
    const calling = client.callTool("a");
    await clock.advance(3_600_000);
    confirm(true);
    peer.answer(await peer.request("tools/call"), text("x"));
    expect(await calling).toBe("x");
  });
});

describe("cancellation", () => {
  test("the caller's signal notifies the server and rejects the call with its reason", async () => {
    const { peer, client, errors } = await modern();
    const controller = new AbortController();
    const calling = client.callTool("a", {}, { signal: controller.signal });
    calling.catch(() => {});
    const request = await peer.request("tools/call");
    controller.abort("mind changed");
    await expect(calling).rejects.toMatchObject({ code: "aborted", cause: "mind changed" });
    expect((await peer.notification("notifications/cancelled")).params).toMatchObject({ requestId: request.id });
    peer.refuse(request, { code: -32603, message: "late" });
    expect(errors).toEqual([]);
  });

  test("a call with an aborted signal sends nothing", async () => {
    const { peer, client } = await modern();
    await expect(client.callTool("a", {}, { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "aborted" });
    await flushPromises();
    expect(peer.arrived.length).toBe(1);
    expect(client.inFlight).toBe(0);
  });

  test("close rejects each call in flight once with the code closed, and the promise closed resolves", async () => {
    const { peer, client } = await modern();
    const calling = client.callTool("a");
    calling.catch(() => {});
    await peer.request("tools/call");
    await Promise.all([client.close(), client.close()]);
    await expect(calling).rejects.toMatchObject({ code: "closed", message: "The client was closed." });
    await client.closed;
    expect(client.state).toBe("closed");
    expect(peer.isClosed).toBe(true);
    await expect(client.callTool("a")).rejects.toMatchObject({ code: "closed" });
  });
});

describe("requests", () => {
  test("modern requests contain the client in _meta, in addition to the caller's members", async () => {
    const { peer, client } = await modern({
      info: { name: "me", version: "2" },
      sample: () => expect.fail("not asked"),
      roots: [],
      elicit: () => ({ action: "decline" }),
      extensions: { "com.example/x": {} },
    });
    await client.setLogLevel("warning");
    void client.callTool("a", { b: 1 }, { meta: { traceparent: "00-x", progressToken: "mine" } }).catch(() => {});
    const { params, id } = await peer.request("tools/call");
    expect(params).toEqual({
      name: "a",
      arguments: { b: 1 },
      _meta: {
        traceparent: "00-x",
        progressToken: id,
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { name: "me", version: "2" },
        "io.modelcontextprotocol/clientCapabilities": {
          elicitation: { form: {}, url: {} },
          sampling: {},
          roots: {},
          extensions: { "com.example/x": {} },
        },
        "io.modelcontextprotocol/logLevel": "warning",
      },
    });
    await client.close();
  });

  test("legacy requests contain only a progress token in _meta, because initialize has named the client", async () => {
    const { peer, client } = await legacy({
      roots: [],
      sample: () => expect.fail("not asked"),
      sampleTools: true,
      elicitModes: ["form"],
      elicit: () => ({ action: "decline" }),
    });
    void client.callTool("a").catch(() => {});
    const { params, id } = await peer.request("tools/call");
    expect(params).toEqual({ name: "a", arguments: {}, _meta: { progressToken: id } });
    expect(peer.arrived[0]?.message).toMatchObject({
      params: { capabilities: { elicitation: { form: {} }, sampling: { tools: {} }, roots: { listChanged: true } } },
    });
    await client.close();
  });

  test("ids are never used twice", async () => {
    const { peer, client } = await modern();
    const calls = Array.from({ length: 50 }, () => client.callTool("a"));
    const ids = new Set<unknown>();
    for (const _ of calls) {
      const request = await peer.request("tools/call");
      ids.add(request.id);
      peer.answer(request, text("x"));
    }
    await Promise.all(calls);
    expect(ids.size).toBe(50);
  });

  test("a request without the declared capability fails before it is sent, and the error names the capability", async () => {
    const peer = modernPeer({ capabilities: { tools: {} } });
    const client = await openClient(peerTransports(peer));
    await expect(client.getPrompt("a")).rejects.toThrow('prompts/get needs the server capability "prompts"');
    await expect(client.readResource("a:b")).rejects.toMatchObject({ code: "not_capable" });
    await expect(client.listResources().all()).rejects.toMatchObject({ code: "not_capable" });
    const ref = { type: "ref/prompt", name: "a" } as const;
    await expect(client.complete(ref, { name: "a", value: "" })).rejects.toMatchObject({ code: "not_capable" });
    await expect(client.request("logging/setLevel", {})).rejects.toThrow(
      "Protocol revision 2026-07-28 of this connection has no logging/setLevel.",
    );
    expect(peer.arrived.length).toBe(1);
  });

  test("a capability that the revision does not define is not required", async () => {
    const peer = legacyPeer({ version: "2024-11-05", capabilities: { prompts: {} } });
    const client = await openClient(peerTransports(peer), { revision: "2024-11-05" });
    await peer.notification("notifications/initialized");
    const completing = client.complete(
      { type: "ref/prompt", name: "a" },
      { name: "b", value: "c" },
      { context: { d: "e" } },
    );
    const request = await peer.request("completion/complete");
    expect(request.params).toMatchObject({ argument: { name: "b", value: "c" } });
    // The revision does not define the context either.
    expect(request.params).not.toHaveProperty("context");
    peer.answer(request, { completion: { values: ["x"] } });
    expect(await completing).toEqual({ values: ["x"] });
  });

  test("methods of extensions are sent unchanged", async () => {
    const { peer, client } = await modern();
    const asking = client.request("com.example/do", { a: 1 });
    peer.answer(await peer.request("com.example/do"), { resultType: "complete", b: 2 });
    expect(await asking).toEqual({ resultType: "complete", b: 2 });
  });

  test("errors of the server are passed on unchanged", async () => {
    const { peer, client } = await modern();
    const calling = client.callTool("a");
    calling.catch(() => {});
    peer.refuse(await peer.request("tools/call"), { code: -32602, message: "Unknown tool", data: { name: "a" } });
    const expected = new ProtocolError(-32602, "Unknown tool", { data: { name: "a" } });
    await expect(calling).rejects.toEqual(expected);
  });

  test("each call is recorded once, without its arguments or result", async () => {
    const clock = fakeClock();
    const records: CallRecord[] = [];
    const { peer, client } = await modern({ clock, onCall: (call) => records.push(call) });
    const one = client.callTool("a", { secret: 1 });
    const request = await peer.request("tools/call");
    await clock.advance(5);
    peer.answer(request, { ...text("no"), isError: true });
    await expect(one).rejects.toThrow("no");
    const two = client.readResource("a:b");
    two.catch(() => {});
    peer.refuse(await peer.request("resources/read"), { code: -32602, message: "x" });
    await expect(two).rejects.toThrow("x");
    const three = client.getPrompt("p", {}, { timeout: { idle: 10 } });
    three.catch(() => {});
    await clock.advance(10);
    await expect(three).rejects.toMatchObject({ code: "timeout" });
    const common = { kind: "call", target: "scripted", revision: "2026-07-28" };
    expect(records).toEqual([
      { ...common, at: 0, durationMs: 5, method: "tools/call", name: "a", outcome: "tool_error", code: undefined },
      { ...common, at: 5, durationMs: 0, method: "resources/read", name: "a:b", outcome: "error", code: -32602 },
      { ...common, at: 5, durationMs: 10, method: "prompts/get", name: "p", outcome: "timeout", code: "timeout" },
    ]);
  });

  test("onLog receives log messages", async () => {
    const logs: unknown[] = [];
    const { peer } = await modern({ onLog: (message) => logs.push(message) });
    peer.notify("notifications/message", { level: "error", logger: "db", data: { a: 1 } });
    peer.notify("notifications/message", { level: "loud", data: "x" });
    expect(logs).toEqual([
      { level: "error", logger: "db", data: { a: 1 } },
      { level: "info", data: "x" },
    ]);
  });

  test("setLogLevel sends a request in a legacy session", async () => {
    const { peer, client } = await legacy();
    const setting = client.setLogLevel("debug");
    const request = await peer.request("logging/setLevel");
    expect(request.params).toMatchObject({ level: "debug" });
    peer.answer(request, {});
    await setting;
  });

  test("rootsChanged notifies legacy servers only", async () => {
    const one = await legacy({ roots: [] });
    await one.client.rootsChanged();
    await one.peer.notification("notifications/roots/list_changed");
    const two = await modern({ roots: [] });
    await two.client.rootsChanged();
    expect(two.peer.arrived.length).toBe(1);
  });

  test("a result of an unknown type is invalid, and one without a type is complete", async () => {
    const { peer, client } = await modern();
    const one = client.callTool("a");
    one.catch(() => {});
    peer.answer(await peer.request("tools/call"), { resultType: "task", taskId: "1" });
    await expect(one).rejects.toThrow('The result of tools/call "a" has the unexpected resultType "task".');
    const two = client.callTool("a");
    peer.answer(await peer.request("tools/call"), text("x"));
    expect(await two).toBe("x");
  });
});
