import { flushPromises } from "mcparley/testing";
import { expect, test } from "vitest";
import type { CallActivity } from "../activity/active-calls.ts";
import { knownSecrets } from "../secrets/known-secrets.ts";
import { EventQueue } from "./event-queue.ts";
import type { RunEvent } from "./run-events.ts";

function progress(callId: string, value: number): RunEvent {
  return { type: "activity", callId, activity: { type: "progress", progress: { progress: value } } };
}

function task(callId: string, status: "working" | "completed"): RunEvent {
  const activity = { type: "task", task: { taskId: "t", status } } as unknown as CallActivity;
  return { type: "activity", callId, activity };
}

const noReturn = (): Promise<void> => Promise.resolve();

async function rest(queue: EventQueue): Promise<RunEvent[]> {
  queue.end();
  const events: RunEvent[] = [];
  const iterator = queue.iterate(noReturn);
  for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) events.push(next.value);
  return events;
}

const noSecrets = {
  withoutSecrets: <T>(event: T): T => event,
  lengthBeforeStart: ({ length }: string): number => length,
};

test("joins a million pieces of text while the consumer waits", async () => {
  const queue = new EventQueue(noSecrets);
  for (let index = 0; index < 1_000_000; index += 1) queue.push({ type: "text", text: "ab" });
  queue.push({ type: "reasoning", text: "c" });
  queue.push({ type: "text", text: "d" });
  expect(queue.size).toBe(3);
  expect(await rest(queue)).toEqual([
    { type: "text", text: "ab".repeat(1_000_000) },
    { type: "reasoning", text: "c" },
    { type: "text", text: "d" },
  ]);
});

test("keeps only the last progress and task state of each call", async () => {
  const queue = new EventQueue(noSecrets);
  for (let index = 1; index <= 10_000; index += 1) {
    queue.push(progress("a", index));
    queue.push(task("a", index === 10_000 ? "completed" : "working"));
    queue.push(progress("b", index));
  }
  expect(await rest(queue)).toEqual([progress("a", 10_000), task("a", "completed"), progress("b", 10_000)]);
});

test("does not move a progress before another event of its call", async () => {
  const queue = new EventQueue(noSecrets);
  const approval: RunEvent = { type: "activity", callId: "a", activity: { type: "approval", state: "waiting" } };
  const events = [progress("a", 1), approval, progress("a", 2)];
  for (const event of events) queue.push(event);
  expect(await rest(queue)).toEqual(events);
});

test("delivers each event at once to a consumer that waits", async () => {
  const queue = new EventQueue(noSecrets);
  const iterator = queue.iterate(noReturn);
  const first = iterator.next();
  await flushPromises();
  queue.push({ type: "text", text: "a" });
  expect(await first).toEqual({ done: false, value: { type: "text", text: "a" } });
});

test("can be iterated once", () => {
  const queue = new EventQueue(noSecrets);
  queue.iterate(noReturn);
  expect(() => queue.iterate(noReturn)).toThrow("can be iterated once");
});

test("keeps no event after the consumer has left", async () => {
  const queue = new EventQueue(noSecrets);
  const iterator = queue.iterate(noReturn);
  queue.push({ type: "step", step: 1 });
  await iterator.return?.();
  queue.push({ type: "step", step: 2 });
  expect(queue.size).toBe(0);
  expect((await iterator.next()).done).toBe(true);
});

test("a secret in two pieces of a text is removed, and other texts are not delayed", async () => {
  const secrets = knownSecrets();
  secrets.of("notes").addFrom({ command: "x", env: { API_KEY: "4f9a0b77c1d2e3f0" } });
  const queue = new EventQueue(secrets);
  queue.push({ type: "text", text: "It is 4f9" });
  const iterator = queue.iterate(noReturn);
  expect(await iterator.next()).toMatchObject({ value: { type: "text", text: "It is " } });
  queue.push({ type: "text", text: "a0b77c1d2e3f0, or 4f9a" });
  expect(await iterator.next()).toMatchObject({ value: { type: "text", text: "[redacted], or " } });
  queue.push({ type: "reasoning", text: "a 4f9a" });
  queue.push({ type: "usage", step: 1, usage: { model: "m", inputTokens: 1, outputTokens: 1 } });
  queue.push({ type: "text", text: "no 4f9a" });
  queue.end();
  const events: unknown[] = [];
  for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) events.push(next.value);
  expect(events).toMatchObject([
    { type: "text", text: "4f9a" },
    { type: "reasoning", text: "a 4f9a" },
    { type: "usage" },
    { type: "text", text: "no 4f9a" },
  ]);
});
