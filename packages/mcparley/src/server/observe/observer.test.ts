import { describe, expect, test, vi } from "vitest";
import { pino } from "pino";
import { z } from "zod";
import { ToolError } from "../../rpc/errors.ts";
import { gate } from "../../testing/gate.ts";
import { modernMeta, openSession, rawPeer } from "../../testing/raw-peer.ts";
import { tool } from "../definition.ts";
import type { CallEnd, ObservedCall, ServerObserver } from "./observer.ts";
import { createServer } from "../server.ts";
import { type StructuredLogger, jsonLogger } from "./structured-logger.ts";

const meta = modernMeta("2026-07-28");

const tools = {
  ok: tool({ input: z.object({ secret: z.string() }), call: () => "x" }),
  fails: tool({
    call: () => {
      throw new ToolError("no");
    },
  }),
  breaks: tool({
    call: () => {
      throw new Error("password=hunter2", { cause: new Error("below") });
    },
  }),
  shut: tool({ scopes: ["admin"], call: () => "x" }),
};

interface Seen {
  calls: { call: ObservedCall; end: CallEnd }[];
  observer: ServerObserver;
}

function watching(): Seen {
  const calls: Seen["calls"] = [];
  return { calls, observer: { started: (call) => ({ ended: (end) => void calls.push({ call, end }) }) } };
}

describe("observers", () => {
  test.each([
    ["ok", { name: "ok", arguments: { secret: "hunter2" } }, { outcome: "ok", code: undefined }, true],
    ["a tool that failed", { name: "fails" }, { outcome: "tool_error" }, true],
    ["an error", { name: "breaks" }, { outcome: "error" }, true],
    ["scopes that lack", { name: "shut" }, { outcome: "refused", code: 403 }, true],
    ["a tool that is not there", { name: "made up" }, { outcome: "error", code: -32602 }, false],
  ])("are told once how a call ended: %s", async (_, params, end, known) => {
    const { calls, observer } = watching();
    const server = createServer({ name: "x", version: "1", tools, observers: [observer], onError: () => {} });
    const peer = await rawPeer(server, { meta });
    await peer.request("tools/call", params);
    expect(calls).toHaveLength(1);
    expect(calls[0]?.end).toMatchObject(end);
    expect(calls[0]?.call.known).toBe(known);
  });

  test("a call is inside all of them, the first outermost, and one that throws changes no answer", async () => {
    const order: string[] = [];
    const wrapping = (name: string): ServerObserver => ({
      started: () => ({
        within: (answer) => {
          order.push(name);
          return answer();
        },
        ended: () => {
          throw new Error(name);
        },
      }),
    });
    const errors: unknown[] = [];
    const onError = (error: unknown): void => void errors.push(error);
    const observers = [wrapping("a"), wrapping("b")];
    const peer = await rawPeer(createServer({ name: "x", version: "1", tools, observers, onError }), { meta });
    const { result } = await peer.request("tools/call", { name: "ok", arguments: { secret: "s" } });
    expect(result.content).toMatchObject([{ text: "x" }]);
    expect(order).toEqual(["a", "b"]);
    expect(errors.map(String)).toEqual(["Error: a", "Error: b"]);
  });

  test("a call that its client gives up has ended as cancelled", async () => {
    const { calls, observer } = watching();
    const { call, entered, open } = gate();
    const slow = tool({ call });
    const peer = await rawPeer(createServer({ name: "x", version: "1", tools: { slow }, observers: [observer] }), {
      meta,
    });
    void peer.request("tools/call", { name: "slow" });
    await entered;
    peer.notify("notifications/cancelled", { requestId: 1 });
    open("too late");
    await vi.waitFor(() => expect(calls).toHaveLength(1));
    expect(calls[0]?.end.outcome).toBe("cancelled");
  });

  test("a session that ended is told with how long it lasted", async () => {
    const ended = vi.fn<NonNullable<ServerObserver["sessionEnded"]>>();
    const peer = await rawPeer(createServer({ name: "x", version: "1", observers: [{ sessionEnded: ended }] }));
    await openSession(peer, "2025-11-25");
    await peer.close();
    await vi.waitFor(() => expect(ended).toHaveBeenCalledTimes(1));
    expect(ended.mock.calls[0]?.[0]).toMatchObject({ revision: "2025-11-25", durationMs: expect.any(Number) });
  });

  test("a request that never became a call is told as refused", async () => {
    const refused = vi.fn<NonNullable<ServerObserver["refused"]>>();
    const peer = await rawPeer(createServer({ name: "x", version: "1", observers: [{ refused }] }));
    await peer.request("tools/list", { _meta: { ...meta, "io.modelcontextprotocol/protocolVersion": "token=abcdef" } });
    await peer.request("initialize", { protocolVersion: 1 });
    await vi.waitFor(() => expect(refused).toHaveBeenCalledTimes(2));
    expect(refused.mock.calls.map(([refusal]) => refusal)).toMatchObject([
      { what: "tools/list", code: -32022, status: undefined },
      { what: "initialize", code: -32602 },
    ]);
  });
});

function recording(): { lines: Record<string, unknown>[]; logger: StructuredLogger } {
  const lines: Record<string, unknown>[] = [];
  const logger = jsonLogger({
    write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>),
    now: () => 0,
  });
  return { lines, logger };
}

describe("the log", () => {
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01";

  test("has a line for each call, which names its request and its trace, and holds no argument", async () => {
    const { lines, logger } = recording();
    const peer = await rawPeer(createServer({ name: "x", version: "1", tools, logger }), { meta });
    await peer.request("tools/call", { name: "ok", arguments: { secret: "hunter2" }, _meta: { ...meta, traceparent } });
    await vi.waitFor(() => expect(lines).toHaveLength(1));
    expect(lines[0]).toMatchObject({
      time: "1970-01-01T00:00:00.000Z",
      level: "info",
      msg: "call",
      method: "tools/call",
      name: "ok",
      outcome: "ok",
      requestId: 1,
      traceId: "0af7651916cd43dd8448eb211c80319c",
    });
    expect(JSON.stringify(lines)).not.toContain("hunter2");
  });

  test("has errors whole, with their causes, but for their secrets", async () => {
    const { lines, logger } = recording();
    const peer = await rawPeer(createServer({ name: "x", version: "1", tools, logger }), { meta });
    await peer.request("tools/call", { name: "breaks" });
    await vi.waitFor(() => expect(lines).toHaveLength(2));
    const line = lines.find(({ level }) => level === "error");
    expect(line).toMatchObject({
      method: "tools/call",
      err: { message: "password=[redacted]", cause: { message: "below" } },
    });
    expect(JSON.stringify(lines)).not.toContain("hunter2");
  });

  test("takes the console and pino, and writes nothing below its level", async () => {
    const seen: unknown[] = [];
    const quiet = jsonLogger({ level: "warn", write: (line) => void seen.push(line) });
    quiet.info({}, "no");
    quiet.warn({ a: 1 }, "yes");
    expect(seen).toHaveLength(1);
    createServer({ name: "x", version: "1", logger: console });
    createServer({ name: "x", version: "1", logger: pino({ level: "silent" }) });
  });
});
