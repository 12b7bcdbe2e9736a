import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Client } from "../../../client/client.ts";
import { openClient } from "../../../client/open-client.ts";
import type { ConnectOptions } from "../../../client/options.ts";
import { LocalError } from "../../../rpc/errors.ts";
import type { JsonRpcRequest } from "../../../rpc/messages.ts";
import { type FakeClock, fakeClock, flushPromises } from "../../../testing/fake-clock.ts";
import { initializeResult, modernPeer, peerTransports } from "../../../testing/peer-transports.ts";
import { type ScriptedPeer, scriptedPeer } from "../../../testing/scripted-peer.ts";
import { followTasks } from "./follow-tasks.ts";

const created = {
  resultType: "task",
  taskId: "t1",
  status: "working",
  createdAt: "x",
  lastUpdatedAt: "x",
  ttlMs: null,
};
const working = { ...created, resultType: "complete" };
const completed = { ...working, status: "completed", result: { content: [{ type: "text", text: "done" }] } };
const question = {
  method: "elicitation/create",
  params: { message: "Who?", requestedSchema: { type: "object", properties: {} } },
};
const asking = { ...working, status: "input_required", inputRequests: { a: question } };

let clock: FakeClock;
let client: Client;
const onError = vi.fn();

beforeEach(() => {
  clock = fakeClock(1_000_000);
  onError.mockReset();
});
afterEach(async () => {
  await client.close();
  expect(clock.pending, "timers").toBe(0);
});

async function open(peers: readonly ScriptedPeer[], options: ConnectOptions = {}): Promise<Client> {
  const extensions = [followTasks()];
  return (client = await openClient(peerTransports(...peers), { clock, onError, extensions, ...options }));
}

/** Calls a tool, answers the call with a task, and returns the first request for the task. */
async function callAsTask(
  peer: ScriptedPeer,
  options: Parameters<Client["callTool"]>[2] = {},
): Promise<{ running: Promise<unknown>; poll: JsonRpcRequest }> {
  const running = client.callTool("t", {}, options);
  running.catch(() => {});
  peer.answer(await peer.request("tools/call"), created);
  await clock.advance(1000);
  return { running, poll: await peer.request("tasks/get") };
}

const countOf = (peer: ScriptedPeer, method: string): number =>
  peer.arrived.filter(({ message }) => "method" in message && message.method === method).length;
/** Returns the value of a promise, the code of its error, or "pending". */
const stateOf = async (promise: Promise<unknown>): Promise<unknown> => {
  let state: unknown = "pending";
  promise.then(
    (value) => (state = value),
    (error: { code: unknown }) => (state = error.code),
  );
  await flushPromises();
  return state;
};

describe("a poll that fails", () => {
  test.each([
    ["503 without a JSON-RPC body", new LocalError("http", "busy", { data: { status: 503 } }), 500],
    ["429 with Retry-After", new LocalError("http", "busy", { data: { status: 429, retryAfterMs: 7000 } }), 7000],
    ["a timeout", new LocalError("timeout", "late"), 500],
    ["a refused connection", new LocalError("unreachable", "refused"), 500],
    ["a lost connection", new LocalError("closed", "reset"), 500],
  ])("is repeated: %s", async (_, error, wait) => {
    const peer = modernPeer();
    await open([peer]);
    const { running, poll } = await callAsTask(peer);
    peer.fail(poll, error);
    await clock.advance(wait - 1);
    expect(countOf(peer, "tasks/get")).toBe(1);
    await clock.advance(1);
    peer.answer(await peer.request("tasks/get"), completed);
    expect(await running).toBe("done");
  });

  test.each([
    ["503 of a server whose store is unavailable", { code: -32603, message: "busy", data: { retryAfter: 3 } }, 3000],
    ["429 of a rate limit", { code: -32600, message: "busy", data: { retryAfter: 2 } }, 2000],
    ["an internal error", { code: -32603, message: "Internal error" }, 500],
  ])("is repeated if the error is a JSON-RPC error: %s", async (_, error, wait) => {
    const peer = modernPeer();
    await open([peer]);
    const { running, poll } = await callAsTask(peer);
    peer.refuse(poll, error);
    await clock.advance(wait - 1);
    expect(countOf(peer, "tasks/get")).toBe(1);
    await clock.advance(1);
    peer.answer(await peer.request("tasks/get"), completed);
    expect(await running).toBe("done");
  });

  test.each([
    [
      "an unknown task",
      (peer: ScriptedPeer, poll: JsonRpcRequest) => peer.refuse(poll, { code: -32602, message: "gone" }),
      -32602,
    ],
    [
      "400",
      (peer: ScriptedPeer, poll: JsonRpcRequest) =>
        peer.fail(poll, new LocalError("http", "bad", { data: { status: 400 } })),
      "http",
    ],
  ])("is not repeated after an error that a repetition cannot resolve: %s", async (_, fail, code) => {
    const peer = modernPeer();
    await open([peer]);
    const { running, poll } = await callAsTask(peer);
    fail(peer, poll);
    expect(await stateOf(running)).toBe(code);
  });

  test("is repeated for about a minute, and then the call rejects and names the task, which continues", async () => {
    const peer = modernPeer();
    await open([peer]);
    const { running, poll } = await callAsTask(peer);
    const since = clock.now();
    peer.refuse(poll, { code: -32603, message: "Internal error" });
    for (let turn = 0; turn < 200 && (await stateOf(running)) === "pending"; turn++) {
      await clock.advance(500);
      const last = peer.arrived.at(-1)?.message as JsonRpcRequest;
      if (countOf(peer, "tasks/get") > 1) peer.refuse(last, { code: -32603, message: "Internal error" });
    }
    await expect(running).rejects.toMatchObject({
      code: -32603,
      message: expect.stringContaining("t1") as string,
      data: { taskId: "t1" },
    });
    expect(clock.now() - since).toBeGreaterThan(55_000);
    expect(clock.now() - since).toBeLessThan(70_000);
    expect(countOf(peer, "tasks/cancel")).toBe(0);
  });

  test("has all attempts again after a successful poll", async () => {
    const peer = modernPeer();
    await open([peer]);
    let { running, poll } = await callAsTask(peer);
    for (let round = 0; round < 20; round++) {
      peer.refuse(poll, { code: -32603, message: "Internal error" });
      await clock.advance(500);
      peer.answer(await peer.request("tasks/get"), working);
      await clock.advance(1000);
      poll = await peer.request("tasks/get");
    }
    peer.answer(poll, completed);
    expect(await running).toBe("done");
  });
});

describe("the total timeout", () => {
  test("ends a call whose poll is not answered, and cancels the task", async () => {
    const peer = modernPeer();
    await open([peer]);
    const { running } = await callAsTask(peer, { timeout: { total: 5000 } });
    await clock.advance(3999);
    expect(await stateOf(running)).toBe("pending");
    await clock.advance(1);
    expect(await stateOf(running)).toBe("timeout");
    await expect(running).rejects.toMatchObject({ data: { taskId: "t1" } });
    expect(countOf(peer, "tasks/cancel")).toBe(1);
  });

  test("ends a call between two attempts", async () => {
    const peer = modernPeer();
    await open([peer], { timeout: { total: 5000 } });
    const { running, poll } = await callAsTask(peer);
    peer.fail(poll, new LocalError("http", "busy", { data: { status: 503, retryAfterMs: 60_000 } }));
    await clock.advance(4000);
    expect(await stateOf(running)).toBe("timeout");
  });

  test("is stopped while the user answers, and continues afterwards", async () => {
    let answer!: () => void;
    const peer = modernPeer();
    const elicit = (): Promise<{ action: "accept"; content: Record<string, string> }> =>
      new Promise((resolve) => (answer = () => resolve({ action: "accept", content: {} })));
    await open([peer], { elicit });
    const { running, poll } = await callAsTask(peer, { timeout: { total: 5000 } });
    peer.answer(poll, asking);
    await clock.advance(60_000);
    expect(await stateOf(running)).toBe("pending");
    answer();
    await flushPromises();
    expect(countOf(peer, "tasks/update")).toBe(1);
    await clock.advance(3999);
    expect(await stateOf(running)).toBe("pending");
    await clock.advance(1);
    expect(await stateOf(running)).toBe("timeout");
  });

  test.each([Number.POSITIVE_INFINITY, 2 ** 31, 2 ** 40])("may be up to %d ms", async (total) => {
    const delays: number[] = [];
    const setTimeout = (fn: () => void, ms: number): unknown => {
      delays.push(ms);
      return clock.setTimeout(fn, ms);
    };
    const peer = modernPeer();
    await open([peer], { clock: { ...clock, setTimeout } });
    delays.length = 0;
    const { running, poll } = await callAsTask(peer, { timeout: { total } });
    peer.answer(poll, completed);
    expect(await running).toBe("done");
    expect(Math.max(...delays)).toBeLessThan(2 ** 31);
  });
});

describe.each([
  ["while it waits for the next poll", async (peer: ScriptedPeer, poll: JsonRpcRequest) => peer.answer(poll, working)],
  ["while a poll is not answered", async () => {}],
  [
    "while it waits to repeat a poll",
    async (peer: ScriptedPeer, poll: JsonRpcRequest) => peer.refuse(poll, { code: -32603, message: "Internal error" }),
  ],
  ["while the user answers", async (peer: ScriptedPeer, poll: JsonRpcRequest) => peer.answer(poll, asking)],
])("a call with a task, %s", (_, reach) => {
  /** A handler that ignores its signal. */
  const elicit = (): Promise<never> => new Promise(() => {});

  test("settles immediately if the caller aborts, and cancels the task", async () => {
    const peer = modernPeer();
    await open([peer], { elicit });
    const controller = new AbortController();
    const { running, poll } = await callAsTask(peer, { signal: controller.signal });
    await reach(peer, poll);
    await flushPromises();
    controller.abort();
    expect(await stateOf(running)).toBe("aborted");
    expect(countOf(peer, "tasks/cancel")).toBe(1);
    expect(onError).not.toHaveBeenCalled();
  });

  test("settles immediately if the client is closed, and does not cancel the task", async () => {
    const peer = modernPeer();
    await open([peer], { elicit });
    const { running, poll } = await callAsTask(peer);
    await reach(peer, poll);
    await flushPromises();
    await client.close();
    expect(await stateOf(running)).toBe("closed");
    expect(countOf(peer, "tasks/cancel")).toBe(0);
    expect(onError).not.toHaveBeenCalled();
  });
});

test("a listener that rejects is reported", async () => {
  const peer = modernPeer();
  const onTask = (async () => {
    throw new Error("disk full");
  }) as () => void;
  await open([peer], { extensions: [followTasks({ onTask })] });
  const { running, poll } = await callAsTask(peer);
  peer.answer(poll, completed);
  expect(await running).toBe("done");
  await flushPromises();
  expect(onError).toHaveBeenCalledWith(expect.objectContaining({ message: "disk full" }));
});

describe("on 2025-11-25", () => {
  const revision = "2025-11-25";
  const task = { taskId: "t1", status: "working", createdAt: "x", lastUpdatedAt: "x", ttl: null };
  const legacy = (): ScriptedPeer =>
    scriptedPeer({
      initialize: () => initializeResult(revision, { tools: {}, tasks: { requests: { tools: { call: {} } } } }),
      "tools/list": () => ({
        tools: [{ name: "t", inputSchema: { type: "object" }, execution: { taskSupport: "required" } }],
      }),
    });

  /** Calls a tool as a task and answers its first poll with a status. Returns the request for the result. */
  async function untilResult(
    peer: ScriptedPeer,
    status: string,
  ): Promise<{ running: Promise<unknown>; result: JsonRpcRequest }> {
    await peer.notification("notifications/initialized");
    const running = client.callTool("t");
    running.catch(() => {});
    peer.answer(await peer.request("tools/call"), { task });
    await clock.advance(1000);
    peer.answer(await peer.request("tasks/get"), { ...task, status });
    return { running, result: await peer.request("tasks/result") };
  }

  test.each(["closed", "exited", "unreachable", "http"] as const)(
    "a request for the result that fails with %s is repeated",
    async (code) => {
      const peer = legacy();
      await open([peer], { revision });
      const { running, result } = await untilResult(peer, "input_required");
      peer.fail(result, new LocalError(code, "lost"));
      await clock.advance(500);
      const last = peer.arrived.findLast(({ message }) => "method" in message && "id" in message)?.message;
      expect(last).toMatchObject({ method: "tasks/result" });
      peer.answer(last as JsonRpcRequest, { content: [{ type: "text", text: "done" }] });
      expect(await running).toBe("done");
    },
  );

  test.each(["closed", "http", "timeout"] as const)(
    "a result that is unavailable rejects the call after about a minute: %s",
    async (code) => {
      const peer = legacy();
      await open([peer], { revision });
      const { running, result } = await untilResult(peer, "completed");
      peer.fail(result, new LocalError(code, "lost"));
      let sent = 1;
      for (let turn = 0; turn < 200 && (await stateOf(running)) === "pending"; turn++) {
        await clock.advance(500);
        const requests = peer.arrived.flatMap(({ message }) => ("method" in message && "id" in message ? message : []));
        if (requests.length === sent) continue;
        sent = requests.length;
        const last = requests.at(-1) as JsonRpcRequest;
        if (last.method === "tasks/get") peer.answer(last, { ...task, status: "completed" });
        else peer.fail(last, new LocalError(code, "lost"));
      }
      expect(await stateOf(running)).toBe(code);
    },
  );

  const died = { code: -32603, message: "The process died.", data: { repeatable: true } };

  test("a task is read again if the process that sends its result has died", async () => {
    const peer = legacy();
    await open([peer], { revision });
    const { running, result } = await untilResult(peer, "input_required");
    peer.refuse(result, died);
    await clock.advance(1000);
    peer.answer(await peer.request("tasks/get"), { ...task, status: "completed" });
    peer.answer(await peer.request("tasks/result"), { content: [{ type: "text", text: "done" }] });
    expect(await running).toBe("done");
  });

  test.each([
    ["says that it is safe to repeat", died],
    ["says that it is not safe to repeat", { ...died, data: { repeatable: false } }],
  ])("the error of a failed task rejects its call if it %s", async (_, error) => {
    const peer = legacy();
    await open([peer], { revision });
    const { running, result } = await untilResult(peer, "failed");
    peer.refuse(result, error);
    expect(await stateOf(running)).toBe(-32603);
  });

  test("the error of a failed task is not repeated", async () => {
    const peer = legacy();
    await open([peer], { revision });
    const { running, result } = await untilResult(peer, "failed");
    peer.refuse(result, { code: -32603, message: "Internal error" });
    expect(await stateOf(running)).toBe(-32603);
  });
});
