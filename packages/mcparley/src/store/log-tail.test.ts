import { expect, test } from "vitest";
import { fakeClock, flushPromises } from "../testing/fake-clock.ts";
import { LocalError } from "../rpc/errors.ts";
import { LogTail } from "./log-tail.ts";
import { memoryStore } from "./memory-store.ts";
import type { LogEntry, Store } from "./store.ts";

const kept = { ttl: 60_000, maxLength: 100 };

function tailOf(store: Store, take: (value: string) => void): { tail: LogTail; errors: unknown[] } {
  const errors: unknown[] = [];
  const tail = new LogTail({
    store,
    log: "log",
    clock,
    interval: 5_000,
    take: ({ value }: LogEntry) => take(value),
    report: (error) => errors.push(error),
  });
  return { tail, errors };
}

const clock = fakeClock();

test("a message during the start does not make the tail read from the oldest entry", async () => {
  const memory = memoryStore({ clock });
  const store: Store = {
    ...memory,
    async subscribe(channel, listener, missed) {
      const unsubscribe = await memory.subscribe(channel, listener, missed);
      listener("");
      missed?.();
      await memory.readFrom("log", undefined, 1);
      return unsubscribe;
    },
  };
  const first = await store.append("log", "old", kept);
  await store.append("log", "new", kept);
  const taken: string[] = [];
  const { tail } = tailOf(store, (value) => taken.push(value));
  await tail.start(first);
  await tail.stop();
  expect(taken).toEqual(["new"]);
});

test.each([
  ["store_unavailable", 30, "read again for half a minute", ["second"]],
  ["internal", 1, "not read again", ["second"]],
] as const)("an entry that fails with %s is tried %i times: %s", async (code, times, _, after) => {
  const store = memoryStore({ clock });
  await store.append("log", "first", kept);
  await store.append("log", "second", kept);
  const taken: string[] = [];
  let tries = 0;
  const { tail, errors } = tailOf(store, (value) => {
    if (value === "second") return void taken.push(value);
    tries++;
    throw code === "internal" ? new Error("no reason") : new LocalError(code, "no route to the store");
  });
  const started = tail.start(undefined);
  await clock.advance(28_500);
  expect(taken).toEqual(times === 1 ? after : []);
  await clock.advance(1_000);
  await started;
  await tail.stop();
  expect(tries).toBe(times);
  expect(taken).toEqual(after);
  expect(errors.length).toBe(times === 1 ? 1 : 2);
});

test.each(Array.from({ length: 20 }, (_, turns) => turns))(
  "an entry that is appended %i turns after the start of a read is processed",
  async (turns) => {
    const memory = memoryStore({ clock });
    let notify = (): void => {};
    const store: Store = {
      ...memory,
      async subscribe(_, listener) {
        notify = () => listener("");
        return async () => {};
      },
    };
    const taken: string[] = [];
    const { tail } = tailOf(store, (value) => taken.push(value));
    await tail.start(undefined);
    void tail.catchUp();
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    void memory.append("log", "new", kept);
    notify();
    await flushPromises();
    await tail.stop();
    expect(taken).toEqual(["new"]);
  },
);
