import { beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import { modernMeta, openSession, rawPeer } from "mcparley-tests/support/raw-peer.ts";
import type { Context } from "../../../server/core/context.ts";
import { createServer } from "../../../server/create-server.ts";
import { tool } from "../../../server/definition.ts";
import { memoryStore } from "../../../store/memory-store.ts";
import type { Store } from "../../../store/store.ts";
import { type FakeClock, fakeClock, flushPromises } from "../../../testing/fake-clock.ts";
import { tasksId } from "../task.ts";
import { asTask, tasks } from "./tasks.ts";

const capabilities = { extensions: { [tasksId]: {} }, elicitation: { form: {} } };
const form = { message: "Who?", schema: z.object({ name: z.string() }) };
const answer = { action: "accept", content: { name: "Ann" } };
const lease = 30_000;

let clock: FakeClock;
let store: Store;

beforeAll(() => import("../../../server/input/elicit.ts"));
beforeEach(() => {
  clock = fakeClock(1_000_000);
  store = memoryStore({ clock });
});

/** A process that works until `die` is called. Then none of its actions reach the store. */
function startProcess(ask: (ctx: Context) => Promise<unknown>) {
  let isDead = false;
  const guarded = new Proxy(store, {
    get: (target, member: keyof Store) =>
      member === "close"
        ? async () => {}
        : (...args: never[]) =>
            isDead ? new Promise(() => {}) : (target[member] as (...all: never[]) => unknown)(...args),
  });
  const call = async (_: unknown, ctx: Context) => JSON.stringify(await ask(ctx));
  const onError = vi.fn();
  const tools = { ask: tool({ extensions: [asTask({ runAgain: true })], call }) };
  const extensions = [tasks({ lease, listForAnyone: true })];
  const server = createServer({ name: "x", version: "1", clock, store: guarded, onError, extensions, tools });
  return { server, onError, die: () => (isDead = true) };
}

const settle = async () => {
  for (let turn = 0; turn < 4; turn++) await flushPromises();
};

describe("a question of a task on 2026-07-28", () => {
  async function start(ask: (ctx: Context) => Promise<unknown>) {
    const running = startProcess(ask);
    const peer = await rawPeer(running.server, { meta: modernMeta("2026-07-28", capabilities) });
    const { taskId } = (await peer.request("tools/call", { name: "ask", arguments: {} })).result;
    await settle();
    const get = async (reader = peer) => {
      await settle();
      return (await reader.request("tasks/get", { taskId })).result;
    };
    return { ...running, peer, taskId, get };
  }

  test("has the result of its fallback when its time is over, and is closed", async () => {
    const { get, onError } = await start((ctx) => ctx.elicit(form, { timeout: 5_000, fallback: () => "nobody" }));
    await clock.advance(4_999);
    expect(await get()).toMatchObject({ status: "input_required" });
    await clock.advance(1);
    expect(await get()).toMatchObject({ status: "completed", result: { content: [{ text: '"nobody"' }] } });
    expect(onError).not.toHaveBeenCalled();
  });

  test("has the answer that comes in time, and its timer ends", async () => {
    const { get, peer, taskId } = await start(async (ctx) => {
      const answered = await ctx.elicit(form, { timeout: 5_000, fallback: () => "nobody" });
      await ctx.elicit({ ...form, message: "And who else?" });
      return answered;
    });
    await clock.advance(4_999);
    await peer.request("tasks/update", { taskId, inputResponses: { "elicitation-1": answer } });
    await settle();
    const pending = clock.pending;
    await clock.advance(1);
    expect(clock.pending).toBe(pending);
    expect(Object.keys((await get()).inputRequests as object)).toEqual(["elicitation-2"]);
    await peer.request("tasks/update", { taskId, inputResponses: { "elicitation-2": answer } });
    expect(await get()).toMatchObject({ status: "completed", result: { content: [{ text: '{"name":"Ann"}' }] } });
  });

  test("without a fallback ends the task with a tool error", async () => {
    const { get } = await start((ctx) => ctx.elicit(form, { timeout: 5_000 }));
    await clock.advance(5_000);
    const text = 'The question "Who?" was not answered within 5000 ms.';
    expect(await get()).toMatchObject({ status: "completed", result: { isError: true, content: [{ text }] } });
  });

  test("keeps its time when the handler runs again, and stays over in each further run", async () => {
    const ask = async (ctx: Context) => {
      const first = await ctx.elicit(form, { timeout: 3 * lease, fallback: () => "nobody" });
      return [first, await ctx.elicit({ ...form, message: "And who else?" })];
    };
    const first = await start(ask);
    await clock.advance(lease);
    first.die();
    await clock.advance(2 * lease - 1);
    const second = startProcess(ask);
    const peer = await rawPeer(second.server, { meta: modernMeta("2026-07-28", capabilities) });
    expect(Object.keys((await first.get(peer)).inputRequests as object)).toEqual(["elicitation-1"]);
    await clock.advance(1);
    expect(Object.keys((await first.get(peer)).inputRequests as object)).toEqual(["elicitation-2"]);
    second.die();
    await clock.advance(2 * lease);
    const third = await rawPeer(startProcess(ask).server, { meta: modernMeta("2026-07-28", capabilities) });
    expect(Object.keys((await first.get(third)).inputRequests as object)).toEqual(["elicitation-2"]);
    await third.request("tasks/update", { taskId: first.taskId, inputResponses: { "elicitation-2": answer } });
    expect(await first.get(third)).toMatchObject({ result: { content: [{ text: '["nobody",{"name":"Ann"}]' }] } });
  });

  test("has no timer after its task was cancelled", async () => {
    const fallback = vi.fn();
    const { peer, taskId } = await start((ctx) => ctx.elicit(form, { timeout: 5_000, fallback }));
    await peer.request("tasks/cancel", { taskId });
    await settle();
    // The timer that looks for tasks of dead processes.
    expect(clock.pending).toBe(1);
    await clock.advance(5_000);
    expect(fallback).not.toHaveBeenCalled();
  });
});

test("on 2025-11-25 the request of tasks/result is cancelled when the time of the question is over", async () => {
  const { server, onError } = startProcess((ctx) => ctx.elicit(form, { timeout: 5_000, fallback: () => "nobody" }));
  const peer = await rawPeer(server);
  await openSession(peer, "2025-11-25", { elicitation: {} });
  const { task } = (await peer.request("tools/call", { name: "ask", task: {} })).result as any;
  const waiting = peer.start("tasks/result", { taskId: task.taskId });
  const request = await peer.nextRequest("elicitation/create");
  await clock.advance(5_000);
  await settle();
  expect((await peer.nextNotification("notifications/cancelled")).params.requestId).toBe(request.id);
  expect((await peer.response(waiting)).result).toMatchObject({ content: [{ text: '"nobody"' }] });
  expect(onError).not.toHaveBeenCalled();
});
