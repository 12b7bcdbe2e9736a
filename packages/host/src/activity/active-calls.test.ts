import type { Task } from "mcparley/tasks";
import { expect, test, vi } from "vitest";
import { type CallListener, activeCalls } from "./active-calls.ts";

const taskOf = (taskId: string): Task => ({
  taskId,
  status: "working",
  createdAt: "2026-07-28T00:00:00Z",
  lastUpdatedAt: "2026-07-28T00:00:00Z",
  ttlMs: null,
});

const listener = (onActivity: CallListener["onActivity"]): CallListener => ({ onActivity, cancel: vi.fn() });

test("ends the calls with a label, and all calls without one", () => {
  const calls = activeCalls();
  const [book, other] = [vi.fn(), vi.fn()];
  calls.begin({ method: "tools/call", name: "book" }, { onActivity: vi.fn(), cancel: book });
  calls.begin({ method: "prompts/get", name: "book" }, { onActivity: vi.fn(), cancel: other });
  const reason = new Error("too many");
  calls.cancel('tools/call "book"', reason);
  expect(book).toHaveBeenCalledExactlyOnceWith(reason);
  expect(other).not.toHaveBeenCalled();
  calls.cancel(undefined, reason);
  expect(other).toHaveBeenCalledTimes(1);
});

test("reports an input request to the call that the client names", () => {
  const calls = activeCalls();
  const [book, cancel] = [vi.fn(), vi.fn()];
  calls.begin({ method: "tools/call", name: "book" }, listener(book));
  calls.begin({ method: "tools/call", name: "cancel" }, listener(cancel));
  calls.inputRequest("form", "waiting", 'tools/call "book"');
  expect(book).toHaveBeenCalledExactlyOnceWith({ type: "input-request", kind: "form", state: "waiting" });
  expect(cancel).not.toHaveBeenCalled();
});

test("reports an input request without a name only if one call is in flight", () => {
  const calls = activeCalls();
  const [first, second] = [vi.fn(), vi.fn()];
  const endFirst = calls.begin({ method: "tools/call", name: "a" }, listener(first));
  calls.begin({ method: "tools/call", name: "b" }, listener(second));
  calls.inputRequest("url", "waiting", undefined);
  expect(first).not.toHaveBeenCalled();
  endFirst();
  calls.inputRequest("url", "waiting", undefined);
  expect(second).toHaveBeenCalledTimes(1);
  expect(first).not.toHaveBeenCalled();
});

test("reports each state of a task to the call that was alone when the task was created", () => {
  const calls = activeCalls();
  const [first, second] = [vi.fn(), vi.fn()];
  calls.begin({ method: "tools/call", name: "slow" }, listener(first));
  calls.task(taskOf("1"));
  calls.begin({ method: "tools/call", name: "slow" }, listener(second));
  calls.task(taskOf("1"));
  calls.task(taskOf("2"));
  expect(first.mock.calls.map(([activity]) => activity as unknown)).toEqual([
    { type: "task", task: taskOf("1") },
    { type: "task", task: taskOf("1") },
  ]);
  expect(second).toHaveBeenCalledExactlyOnceWith({ type: "task", task: taskOf("2") });
});
