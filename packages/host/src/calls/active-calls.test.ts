import type { Task } from "mcparley/tasks";
import { expect, test, vi } from "vitest";
import { activeCalls } from "./active-calls.ts";

const taskOf = (taskId: string): Task => ({
  taskId,
  status: "working",
  createdAt: "2026-07-28T00:00:00Z",
  lastUpdatedAt: "2026-07-28T00:00:00Z",
  ttlMs: null,
});

test("reports an input request to the call that the client names", () => {
  const calls = activeCalls();
  const [book, cancel] = [vi.fn(), vi.fn()];
  calls.begin("book", book);
  calls.begin("cancel", cancel);
  calls.inputRequest("form", "waiting", 'tools/call "book"');
  expect(book).toHaveBeenCalledExactlyOnceWith({ type: "input-request", kind: "form", state: "waiting" });
  expect(cancel).not.toHaveBeenCalled();
});

test("reports an input request without a name only if one call is in flight", () => {
  const calls = activeCalls();
  const [first, second] = [vi.fn(), vi.fn()];
  const endFirst = calls.begin("a", first);
  calls.begin("b", second);
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
  calls.begin("slow", first);
  calls.task(taskOf("1"));
  calls.begin("slow", second);
  calls.task(taskOf("1"));
  calls.task(taskOf("2"));
  expect(first.mock.calls.map(([activity]) => activity as unknown)).toEqual([
    { type: "task", task: taskOf("1") },
    { type: "task", task: taskOf("1") },
  ]);
  expect(second).toHaveBeenCalledExactlyOnceWith({ type: "task", task: taskOf("2") });
});
