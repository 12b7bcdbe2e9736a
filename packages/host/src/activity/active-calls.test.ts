import { getEventListeners } from "node:events";
import type { Task } from "mcparley/tasks";
import { describe, expect, test, vi } from "vitest";
import { type ActiveCall, ActiveCalls, type CallStart } from "./active-calls.ts";

const taskOf = (taskId: string): Task => ({
  taskId,
  status: "working",
  createdAt: "2026-07-28T00:00:00Z",
  lastUpdatedAt: "2026-07-28T00:00:00Z",
  ttlMs: null,
});

/** Starts a call that was allowed, and returns it with the function that ends it. */
function begin(calls: ActiveCalls, name: string, { isAllowed = true, ...start }: Partial<CallStart & ActiveCall> = {}) {
  const onActivity = vi.fn();
  let call!: ActiveCall;
  let end!: () => void;
  const ended = calls.run({ method: "tools/call", name, onActivity, ...start }, (started) => {
    call = started;
    call.isAllowed = isAllowed;
    return new Promise<void>((resolve) => (end = resolve));
  });
  return { call, onActivity, end: () => (end(), ended) };
}

describe("cancel", () => {
  test("ends the calls with a label, and all calls without one", () => {
    const calls = new ActiveCalls();
    const [book, other] = [begin(calls, "book"), begin(calls, "book", { method: "prompts/get" })];
    const reason = new Error("too many");
    calls.cancel('tools/call "book"', reason);
    expect(book.call.signal.reason).toBe(reason);
    expect(other.call.signal.aborted).toBe(false);
    calls.cancel(undefined, reason);
    expect(other.call.signal.reason).toBe(reason);
    expect(() => book.call.throwIfAborted()).not.toThrow();
  });

  test("ends no call that waits for consent", () => {
    const calls = new ActiveCalls();
    const { call } = begin(calls, "book", { isAllowed: false });
    calls.cancel(undefined, new Error("too many"));
    expect(call.signal.aborted).toBe(false);
  });
});

test("withdraw ends the calls that wait for consent, and no other one", () => {
  const calls = new ActiveCalls();
  const [waiting, allowed] = [begin(calls, "a", { isAllowed: false }), begin(calls, "b")];
  calls.withdraw(new Error("removed"));
  expect([waiting, allowed].map(({ call }) => call.signal.aborted)).toEqual([true, false]);
  expect(() => waiting.call.throwIfAborted()).not.toThrow();
});

test("abort rejects all calls, also one that the server has ended before", () => {
  const calls = new ActiveCalls();
  const started = [begin(calls, "a", { isAllowed: false }), begin(calls, "b"), begin(calls, "c")];
  calls.cancel('tools/call "c"', new Error("too many"));
  calls.abort(new Error("closed"));
  for (const { call } of started) expect(() => call.throwIfAborted()).toThrow("closed");
});

describe("the signal of the caller", () => {
  test("ends the call, and the first reason holds", () => {
    const calls = new ActiveCalls();
    const controller = new AbortController();
    const { call } = begin(calls, "a", { signal: controller.signal });
    controller.abort(new Error("by the caller"));
    calls.abort(new Error("closed"));
    expect(call.signal.reason).toEqual(new Error("by the caller"));
    expect(() => call.throwIfAborted()).toThrow("by the caller");
  });

  test("ends a call at once if it is aborted already", () => {
    const { call } = begin(new ActiveCalls(), "a", { signal: AbortSignal.abort(new Error("before")) });
    expect(call.signal.aborted).toBe(true);
    expect(() => call.throwIfAborted()).toThrow("before");
  });

  test("has no listener after the call, whether it succeeds or fails, and does not end a finished call", async () => {
    const calls = new ActiveCalls();
    const controller = new AbortController();
    const { call, end } = begin(calls, "a", { signal: controller.signal });
    expect(getEventListeners(controller.signal, "abort")).toHaveLength(1);
    await end();
    const failing = calls.run({ method: "a", name: "b", signal: controller.signal }, () =>
      Promise.reject(new Error("No.")),
    );
    await expect(failing).rejects.toThrow("No.");
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
    controller.abort();
    calls.abort(new Error("closed"));
    expect(call.signal.aborted).toBe(false);
  });
});

describe("events", () => {
  test("of an input request reach the call that the client names", () => {
    const calls = new ActiveCalls();
    const [book, cancel] = [begin(calls, "book"), begin(calls, "cancel")];
    calls.inputRequest("form", "waiting", 'tools/call "book"');
    expect(book.onActivity).toHaveBeenCalledExactlyOnceWith({ type: "input-request", kind: "form", state: "waiting" });
    expect(cancel.onActivity).not.toHaveBeenCalled();
  });

  test("of an input request without a name reach a call only if no other one is in flight", async () => {
    const calls = new ActiveCalls();
    const [first, second] = [begin(calls, "a"), begin(calls, "b")];
    begin(calls, "c", { isAllowed: false });
    calls.inputRequest("url", "waiting", undefined);
    expect(first.onActivity).not.toHaveBeenCalled();
    await first.end();
    calls.inputRequest("url", "waiting", undefined);
    expect(second.onActivity).toHaveBeenCalledTimes(1);
    expect(first.onActivity).not.toHaveBeenCalled();
  });

  test("of a task reach the call that was alone when the task was created", () => {
    const calls = new ActiveCalls();
    const first = begin(calls, "slow");
    calls.task(taskOf("1"));
    const second = begin(calls, "slow");
    calls.task(taskOf("1"));
    calls.task(taskOf("2"));
    expect(first.onActivity.mock.calls.map(([activity]) => activity as unknown)).toEqual([
      { type: "task", task: taskOf("1") },
      { type: "task", task: taskOf("1") },
    ]);
    expect(second.onActivity).toHaveBeenCalledExactlyOnceWith({ type: "task", task: taskOf("2") });
  });

  test("are reported although the listener throws", () => {
    const calls = new ActiveCalls();
    const onActivity = vi.fn(() => {
      throw new Error("broken");
    });
    begin(calls, "slow", { onActivity });
    calls.task(taskOf("1"));
    expect(onActivity).toHaveBeenCalledTimes(1);
  });

  test("of a call without a listener are dropped", () => {
    const calls = new ActiveCalls();
    begin(calls, "slow", { onActivity: undefined });
    expect(() => calls.task(taskOf("1"))).not.toThrow();
  });
});
