import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import type { JsonObject } from "../../../rpc/messages.ts";
import { tool } from "../../../server/definition.ts";
import { type Server, createServer } from "../../../server/create-server.ts";
import { memoryStore } from "../../../store/memory-store.ts";
import type { Store } from "../../../store/store.ts";
import { type FakeClock, fakeClock, flushPromises } from "../../../testing/fake-clock.ts";
import { type RawPeer, modernMeta, rawPeer } from "mcparley-tests/support/raw-peer.ts";
import { tasksId } from "../task.ts";
import { asTask, tasks } from "./tasks.ts";

/** The timer that each server has: it looks for tasks of dead processes. */
const sweeping = 1;

const meta = modernMeta("2026-07-28", { extensions: { [tasksId]: {} }, elicitation: { form: {} } });

let clock: FakeClock;
let store: Store;
let server: Server;
let finish: (value: string) => void;

beforeAll(() =>
  Promise.all([
    import("../../../server/input/elicit.ts"),
    import("../../../server/input/elicit.ts"),
    import("../../../server/features/subscriptions.ts"),
  ]),
);
beforeEach(() => {
  clock = fakeClock(1_000_000);
  store = memoryStore({ clock });
  server = createServer({
    name: "x",
    version: "1",
    clock,
    store,
    extensions: [tasks()],
    tools: {
      wait: tool({
        extensions: [asTask()],
        call: (_, ctx) => {
          ctx.progress(1, 2);
          return new Promise<string>((resolve) => (finish = resolve));
        },
      }),
      ask: tool({
        extensions: [asTask()],
        call: async (_, ctx) => (await ctx.elicit({ message: "?", schema: z.object({ name: z.string() }) })).name,
      }),
    },
  });
});

const begin = async (peer: RawPeer, name: string): Promise<string> =>
  (await peer.request("tools/call", { name })).result.taskId as string;
const listen = (peer: RawPeer, notifications: JsonObject, id: string | number = "sub"): void =>
  peer.send({ jsonrpc: "2.0", id, method: "subscriptions/listen", params: { notifications, _meta: meta } });
const sent = (peer: RawPeer): JsonObject[] =>
  peer.received.flatMap((message) =>
    "method" in message && message.method === "notifications/tasks" ? [message.params] : [],
  );

describe("notifications/tasks", () => {
  test("contain the whole task: its current state after the acknowledgment, then each change until it is over", async () => {
    const peer = await rawPeer(server, { meta });
    const taskId = await begin(peer, "wait");
    await flushPromises();
    listen(peer, { taskIds: [taskId, "unknown", taskId], toolsListChanged: true });
    await flushPromises();
    const first = peer.received.find((message) => "method" in message);
    expect(first).toMatchObject({
      method: "notifications/subscriptions/acknowledged",
      params: { notifications: { taskIds: [taskId], toolsListChanged: true } },
    });
    expect(sent(peer)).toMatchObject([{ taskId, status: "working", statusMessage: "1/2" }]);
    finish("done");
    await flushPromises();
    expect(sent(peer)).toHaveLength(2);
    const { _meta, ...last } = sent(peer)[1] ?? {};
    expect(_meta).toEqual({ "io.modelcontextprotocol/subscriptionId": "sub" });
    const { result } = await peer.request("tasks/get", { taskId });
    expect(last).toMatchObject({ status: "completed", result: { content: [{ text: "done" }] } });
    expect(result).toMatchObject(last);
    // The task causes no progress notifications and no log messages, even if its request enabled them.
    expect(peer.received.some((message) => "method" in message && /progress|message$/.test(message.method))).toBe(
      false,
    );
    expect(clock.pending).toBe(sweeping);
  });

  test("report an input request and its response", async () => {
    const peer = await rawPeer(server, { meta });
    const taskId = await begin(peer, "ask");
    listen(peer, { taskIds: [taskId] });
    await flushPromises();
    await flushPromises();
    expect(sent(peer).at(-1)).toMatchObject({ status: "input_required", inputRequests: { "elicitation-1": {} } });
    const inputResponses = { "elicitation-1": { action: "accept", content: { name: "Ann" } } };
    await peer.request("tasks/update", { taskId, inputResponses });
    await flushPromises();
    expect(sent(peer).at(-1)).toMatchObject({ status: "completed", result: { content: [{ text: "Ann" }] } });
  });

  test("stop with the stream, which releases its timers and subscriptions", async () => {
    const peer = await rawPeer(server, { meta });
    const taskId = await begin(peer, "wait");
    await flushPromises();
    listen(peer, { taskIds: [taskId] }, 99);
    await flushPromises();
    const before = clock.pending;
    peer.notify("notifications/cancelled", { requestId: 99 });
    await flushPromises();
    expect(clock.pending).toBe(before - 1);
    finish("done");
    await flushPromises();
    expect(sent(peer)).toHaveLength(1);
  });

  test("are rejected without the extension or without valid ids", async () => {
    const peer = await rawPeer(server, { meta });
    const undeclared = { _meta: modernMeta("2026-07-28") };
    const ask = async (taskIds: unknown, more: JsonObject = {}) =>
      (await peer.request("subscriptions/listen", { notifications: { taskIds }, _meta: meta, ...more })).error;
    expect(await ask(["x"], undeclared)).toMatchObject({
      code: -32021,
      data: { requiredCapabilities: { extensions: { [tasksId]: {} } } },
    });
    for (const wrong of ["x", [5], {}]) expect((await ask(wrong)).code).toBe(-32602);
    const many = Array.from({ length: 1001 }, (_, index) => `${index}`);
    expect((await ask(many)).message).toContain("1000");
  });

  test("report a task whose process has died", async () => {
    const peer = await rawPeer(server, { meta });
    const taskId = await begin(peer, "wait");
    await flushPromises();
    const elsewhere = createServer({ name: "x", version: "1", clock, store, extensions: [tasks()], tools: {} });
    const watcher = await rawPeer(elsewhere, { meta });
    listen(watcher, { taskIds: [taskId] });
    await flushPromises();
    // Renewals of the lease appear to succeed, but have no effect, so that the lease expires.
    const real = { ...store };
    store.compareAndSet = (key, expected, value, lifetime) =>
      key.includes("lease") && expected !== undefined
        ? Promise.resolve(true)
        : real.compareAndSet(key, expected, value, lifetime);
    await clock.advance(60_000);
    expect(sent(watcher).at(-1)).toMatchObject({ status: "failed", error: { code: -32603 } });
  });
});
