import {
  type TaskProcess,
  type TaskProcessInit,
  faultyStore,
  skewed,
  startTaskProcess,
  storedTask,
} from "mcparley-tests/support/task-processes.ts";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import type { Context } from "../../../server/core/context.ts";
import { memoryStore } from "../../../store/memory-store.ts";
import type { Store } from "../../../store/store.ts";
import { type FakeClock, fakeClock, flushPromises } from "../../../testing/fake-clock.ts";

const lease = 30_000;
const minute = 60_000;
const name = { message: "Who?", schema: z.object({ name: z.string() }) };
const inputResponses = { "elicitation-1": { action: "accept", content: { name: "Ann" } } };
const forever = (): Promise<never> => new Promise(() => {});

let clock: FakeClock;
let store: Store;
let signals: AbortSignal[];

beforeAll(() =>
  Promise.all([import("../../../server/input/elicit.ts"), import("../../../schema/json-schema/compile.ts")]),
);
beforeEach(() => {
  clock = fakeClock(1_000_000);
  store = memoryStore({ clock });
  signals = [];
});

const start = (init: Partial<TaskProcessInit>): Promise<TaskProcess> =>
  startTaskProcess({ clock, store, call: forever, ...init });
const waiting = ({ signal }: Context): Promise<never> => {
  signals.push(signal);
  return forever();
};

describe("the ttl of a task", () => {
  test.each([1, 1000, 5000, 65_000])("ends a run when it passes: %i ms", async (ttlMs) => {
    const one = await start({ call: waiting, settings: { ttlMs } });
    const taskId = await one.begin();
    await clock.advance(ttlMs - 1);
    expect(signals[0]?.aborted).toBe(false);
    expect((await one.get(taskId)).status).toBe("working");
    await clock.advance(1);
    expect(signals[0]?.reason).toMatchObject({ message: "The ttl of the task has passed." });
    expect((await one.get(taskId)).code).toBe(-32602);
  });

  test("ends a run soon after it passes if another process began the task", async () => {
    const call = waiting;
    const settings = { ttlMs: 2000 };
    const first = await start({ call, settings });
    const second = await start({ call, settings, clock: skewed(clock, 90_000) });
    const taskId = await first.begin("again");
    await clock.advance(1000);
    await first.server.close();
    expect((await second.get(taskId)).status).toBe("working");
    await flushPromises();
    expect(second.started).toBe(1);
    await clock.advance(1499);
    expect(signals[1]?.reason).toMatchObject({ message: "The ttl of the task has passed." });
  });

  test("may be longer than the longest timer of the platform", async () => {
    const month = 30 * 86_400_000;
    const delays: number[] = [];
    const setTimeout = (fn: () => void, ms: number): unknown => {
      delays.push(ms);
      return clock.setTimeout(fn, ms);
    };
    const options = { maxTtlMs: month };
    const one = await start({ clock: { ...clock, setTimeout }, settings: { ttlMs: month }, options });
    await one.begin();
    expect(Math.max(...delays)).toBeLessThan(2 ** 31);
  });

  test("is not prolonged by changes of the task", async () => {
    let report!: Context["progress"];
    const call = async ({ progress, elicit }: Context): Promise<string> => {
      report = progress;
      await elicit(name);
      return forever();
    };
    const one = await start({ call, settings: { ttlMs: minute, pollIntervalMs: 1000 } });
    const taskId = await one.begin("again");
    for (let second = 1; second < 59; second++) {
      report(second);
      if (second === 30) await one.peer.request("tasks/update", { taskId, inputResponses });
      await clock.advance(1000);
    }
    expect(await one.get(taskId)).toMatchObject({ status: "working", ttlMs: minute, statusMessage: "58" });
    await clock.advance(2000);
    expect(await storedTask(store, taskId)).toBeUndefined();
    expect((await one.get(taskId)).code).toBe(-32602);
  });

  test("is not prolonged by the end of the task", async () => {
    const one = await start({ call: () => "done", settings: { ttlMs: minute } });
    const taskId = await one.begin();
    await clock.advance(minute - 1);
    expect((await one.get(taskId)).status).toBe("completed");
    await clock.advance(1);
    expect((await one.get(taskId)).code).toBe(-32602);
  });

  test("ends a request for the result immediately", async () => {
    const one = await start({ settings: { ttlMs: 1000 } });
    const taskId = await one.begin();
    const seen: string[] = [];
    const { result } = await one.peer.request("tasks/get", { taskId });
    expect(result.status).toBe("working");
    await store.subscribe(`mcparley:x:task:${taskId}`, (message) => seen.push(message));
    await clock.advance(1000);
    expect(seen).not.toEqual([]);
  });
});

describe.each([
  ["ahead", 90_000],
  ["behind", -90_000],
])("a process whose clock is 90 s %s", (_, skew) => {
  test("can change a task of 60 s without ending or prolonging it", async () => {
    let open!: (text: string) => void;
    const call = async ({ elicit }: Context): Promise<string> => {
      await elicit(name);
      return new Promise((resolve) => (open = resolve));
    };
    const settings = { ttlMs: minute };
    const one = await start({ call, settings });
    const other = await start({ call, settings, clock: skewed(clock, skew) });
    const taskId = await one.begin();
    await flushPromises();
    await other.peer.request("tasks/update", { taskId, inputResponses });
    await clock.advance(minute / 2);
    expect((await one.get(taskId)).status).toBe("working");
    open("done");
    await flushPromises();
    await clock.advance(minute / 2 - 1);
    expect((await other.get(taskId)).status).toBe("completed");
    await clock.advance(1);
    expect((await other.get(taskId)).code).toBe(-32602);
  });

  test("can cancel a task of 60 s, which is then kept for the rest of its ttl", async () => {
    const one = await start({ settings: { ttlMs: minute } });
    const other = await start({ clock: skewed(clock, skew) });
    const taskId = await one.begin();
    await clock.advance(1000);
    await other.peer.request("tasks/cancel", { taskId });
    await clock.advance(minute - 1001);
    expect((await other.get(taskId)).status).toBe("cancelled");
    await clock.advance(1);
    expect((await other.get(taskId)).code).toBe(-32602);
  });

  test("runs a task of another process to its end, also if the store fails meanwhile", async () => {
    let open!: (text: string) => void;
    const call = (): Promise<string> => new Promise((resolve) => (open = resolve));
    const settings = { ttlMs: 2 * minute };
    let isAway = false;
    const faulty = faultyStore(store, () => (isAway ? "before" : undefined));
    const dead = await start({ call, settings });
    const taskId = await dead.begin("again");
    await flushPromises();
    dead.die();
    await clock.advance(lease + 1);
    const next = await start({ call, settings, store: faulty, clock: skewed(clock, skew) });
    expect((await next.get(taskId)).status).toBe("working");
    await flushPromises();
    isAway = true;
    open("done");
    await clock.advance(lease / 2);
    isAway = false;
    await clock.advance(lease / 2);
    expect(await next.get(taskId)).toMatchObject({ status: "completed" });
  });

  test("never shows a change before the creation of a task", async () => {
    const call = async ({ elicit }: Context): Promise<string> => (await elicit(name)).name + (await forever());
    const one = await start({ call });
    const other = await start({ call, clock: skewed(clock, skew) });
    const taskId = await one.begin();
    await flushPromises();
    await other.peer.request("tasks/update", { taskId, inputResponses });
    const { createdAt, lastUpdatedAt } = await one.get(taskId);
    expect(Date.parse(lastUpdatedAt as string)).toBeGreaterThanOrEqual(Date.parse(createdAt as string));
  });
});

test.each(["completed", "failed", "cancelled"])(
  "the store contains neither arguments nor the caller's claims after the end: %s",
  async (status) => {
    const principal = { issuer: "https://i", subject: "ann", scopes: ["scope-4711"], claims: { mail: "claim-4711" } };
    const call = async ({ elicit, once }: Context): Promise<string> => {
      await once("key", () => "value-4711");
      await elicit({ ...name, message: "question-4711" });
      if (status === "failed") throw new Error("no disk");
      return status === "completed" ? "done" : forever();
    };
    const one = await start({ call, principal });
    const { result } = await one.peer.request("tools/call", { name: "again", arguments: { secret: "argument-4711" } });
    const taskId = result.taskId as string;
    await flushPromises();
    expect(JSON.stringify(await storedTask(store, taskId)).match(/\w+-4711/g)).toEqual(
      expect.arrayContaining(["argument-4711", "scope-4711", "claim-4711", "value-4711", "question-4711"]),
    );
    const answer = { "elicitation-1": { action: "accept", content: { name: "answer-4711" } } };
    await one.peer.request("tasks/update", { taskId, inputResponses: answer });
    if (status === "cancelled") await one.peer.request("tasks/cancel", { taskId });
    expect((await one.get(taskId)).status).toBe(status);
    expect(JSON.stringify(await storedTask(store, taskId))).not.toContain("4711");
  },
);
