import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { pino } from "pino";
import { z } from "zod";
import { ToolError } from "../../mcp/errors.ts";
import { gate } from "mcparley-tests/support/gate.ts";
import { modernMeta, openSession, rawPeer } from "mcparley-tests/support/raw-peer.ts";
import { tool } from "../definition.ts";
import { createServer } from "../create-server.ts";
import type { CallEnd } from "../../mcp/observe.ts";
import { type StructuredLogger, jsonLogger, logTo } from "./logging.ts";
import type { ServerCall, ServerObserver } from "../core/observer.ts";
import { observersOf } from "./observers.ts";
import { systemClock } from "../../rpc/clock.ts";
import type { Call } from "../core/call.ts";

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
  calls: { call: ServerCall; end: CallEnd }[];
  observer: ServerObserver;
}

function collect(): Seen {
  const calls: Seen["calls"] = [];
  return { calls, observer: { started: (call) => ({ ended: (end) => void calls.push({ call, end }) }) } };
}

describe("observers", () => {
  test.each([
    ["ok", { name: "ok", arguments: { secret: "hunter2" } }, { outcome: "ok", code: undefined }, true],
    ["a tool error", { name: "fails" }, { outcome: "tool_error" }, true],
    ["an error", { name: "breaks" }, { outcome: "error" }, true],
    ["a missing scope", { name: "shut" }, { outcome: "refused", code: 403 }, true],
    ["an unknown tool", { name: "made up" }, { outcome: "error", code: -32602 }, false],
  ])("receive the end of a call once: %s", async (_, params, end, known) => {
    const { calls, observer } = collect();
    const server = createServer({ name: "x", version: "1", tools, observers: [observer], onError: () => {} });
    const peer = await rawPeer(server, { meta });
    await peer.request("tools/call", params);
    expect(calls).toHaveLength(1);
    expect(calls[0]?.end).toMatchObject(end);
    expect(calls[0]?.call.known).toBe(known);
  });

  test("read the types of the first 50 arguments, and no other argument", async () => {
    let reads = 0;
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`a${n}`, n]));
    const args = new Proxy(many, {
      get(target, key, receiver) {
        reads++;
        return Reflect.get(target, key, receiver) as unknown;
      },
    });
    const { calls, observer } = collect();
    const call = { method: "tools/call", params: { name: "ok", arguments: args } } as unknown as Call;
    await observersOf({ observers: [observer] } as never, systemClock).call(call, () => ({}));
    const types = calls[0]?.call.arguments ?? {};
    expect(Object.keys(types)).toHaveLength(50);
    expect(reads).toBeLessThanOrEqual(50);
  });

  test("wrap a call, the first outermost; one that throws changes no response", async () => {
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

  test("receive the outcome `cancelled` if the client cancels the call", async () => {
    const { calls, observer } = collect();
    const { call, entered, open } = gate();
    const slow = tool({ call });
    const peer = await rawPeer(createServer({ name: "x", version: "1", tools: { slow }, observers: [observer] }), {
      meta,
    });
    void peer.request("tools/call", { name: "slow" });
    await entered;
    peer.notify("notifications/cancelled", { requestId: 1 });
    open("too late");
    await expect.poll(() => calls).toHaveLength(1);
    expect(calls[0]?.end.outcome).toBe("cancelled");
  });

  test("receive the duration of a session that ended", async () => {
    const ended = vi.fn<NonNullable<ServerObserver["sessionEnded"]>>();
    const peer = await rawPeer(createServer({ name: "x", version: "1", observers: [{ sessionEnded: ended }] }));
    await openSession(peer, "2025-11-25");
    await peer.close();
    await expect.poll(() => ended).toHaveBeenCalledTimes(1);
    expect(ended.mock.calls[0]?.[0]).toMatchObject({ revision: "2025-11-25", durationMs: expect.any(Number) });
  });

  test("receive a rejected request that never became a call", async () => {
    const refused = vi.fn<NonNullable<ServerObserver["refused"]>>();
    const peer = await rawPeer(createServer({ name: "x", version: "1", observers: [{ refused }] }));
    await peer.request("tools/list", { _meta: { ...meta, "io.modelcontextprotocol/protocolVersion": "token=abcdef" } });
    await peer.request("initialize", { protocolVersion: 1 });
    await expect.poll(() => refused).toHaveBeenCalledTimes(2);
    expect(refused.mock.calls.map(([refusal]) => refusal)).toMatchObject([
      { what: "tools/list", code: -32022, status: undefined },
      { what: "initialize", code: -32602 },
    ]);
  });
});

describe("errors of handlers and observers", () => {
  const write = vi.spyOn(console, "error").mockImplementation(() => {});
  afterEach(() => write.mockClear());
  afterAll(() => write.mockRestore());

  const broken: ServerObserver = {
    refused: () => {
      throw new Error("disk full");
    },
  };

  async function breakTool(observers: readonly ServerObserver[]): Promise<void> {
    const peer = await rawPeer(createServer({ name: "x", version: "1", tools, observers }), { meta });
    await peer.request("tools/call", { name: "breaks" });
  }

  test("are written to the console without onError if no observer receives errors", async () => {
    await breakTool([collect().observer]);
    await expect.poll(() => write).toHaveBeenCalledOnce();
  });

  test("are not written to the console if an observer receives them", async () => {
    const failed = vi.fn<NonNullable<ServerObserver["failed"]>>();
    await breakTool([collect().observer, { failed }]);
    await expect.poll(() => failed).toHaveBeenCalledOnce();
    expect(write).not.toHaveBeenCalled();
  });

  test("are written to the console without onError if an observer throws", async () => {
    const peer = await rawPeer(
      createServer({ name: "x", version: "1", observers: [broken, logTo(recordLines().logger)] }),
    );
    await peer.request("initialize", { protocolVersion: 1 });
    await expect.poll(() => write).toHaveBeenCalledWith(expect.stringContaining("Error: disk full"));
  });
});

test("an observed subscription stream does not keep the request's params in memory", async () => {
  let call: ServerCall | undefined;
  const observer: ServerObserver = {
    started: (started) => {
      call = started;
      return undefined;
    },
  };
  const peer = await rawPeer(createServer({ name: "x", version: "1", tools, observers: [observer] }), { meta });
  void peer.request("subscriptions/listen", { notifications: { toolsListChanged: true } });
  await peer.nextNotification("notifications/subscriptions/acknowledged");
  expect(call?.method).toBe("subscriptions/listen");
  expect(call?.meta).toEqual({});
});

function recordLines(): { lines: Record<string, unknown>[]; logger: StructuredLogger } {
  const lines: Record<string, unknown>[] = [];
  const logger = jsonLogger({
    write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>),
    now: () => 0,
  });
  return { lines, logger };
}

describe("logTo", () => {
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01";

  test("writes a line for each call, with its request id and trace id and without arguments", async () => {
    const { lines, logger } = recordLines();
    const peer = await rawPeer(createServer({ name: "x", version: "1", tools, observers: [logTo(logger)] }), { meta });
    await peer.request("tools/call", { name: "ok", arguments: { secret: "hunter2" }, _meta: { ...meta, traceparent } });
    await expect.poll(() => lines).toHaveLength(1);
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

  test("writes errors with their causes and redacts secrets", async () => {
    const { lines, logger } = recordLines();
    const peer = await rawPeer(createServer({ name: "x", version: "1", tools, observers: [logTo(logger)] }), { meta });
    await peer.request("tools/call", { name: "breaks" });
    await expect.poll(() => lines).toHaveLength(2);
    const line = lines.find(({ level }) => level === "error");
    expect(line).toMatchObject({
      method: "tools/call",
      err: { message: "password=[redacted]", cause: { message: "below" } },
    });
    expect(JSON.stringify(lines)).not.toContain("hunter2");
  });

  test("accepts the console and pino; jsonLogger writes nothing below its level", async () => {
    const seen: unknown[] = [];
    const quiet = jsonLogger({ level: "warn", write: (line) => void seen.push(line) });
    quiet.info({}, "no");
    quiet.warn({ a: 1 }, "yes");
    expect(seen).toHaveLength(1);
    createServer({ name: "x", version: "1", observers: [logTo(console)] });
    createServer({ name: "x", version: "1", observers: [logTo(pino({ level: "silent" }))] });
  });
});
