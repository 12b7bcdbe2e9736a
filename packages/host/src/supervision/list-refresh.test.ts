import type { ListKind } from "mcparley/client";
import { fakeClock, flushPromises } from "mcparley/testing";
import { expect, test } from "vitest";
import { ListRefresh } from "./list-refresh.ts";

/** A refresh whose requests are answered by the test, in order. */
function recordedRefresh() {
  const clock = fakeClock(1_000_000);
  const kinds: ListKind[] = [];
  const answers: (() => void)[] = [];
  const refresh = new ListRefresh(clock, (kind) => {
    kinds.push(kind);
    return new Promise((resolve) => answers.push(resolve));
  });
  const answer = async (): Promise<void> => {
    answers.shift()?.();
    await flushPromises();
  };
  return { clock, kinds, refresh, answer };
}

/** Returns whether a promise has resolved. */
async function isResolved(promise: Promise<unknown>): Promise<boolean> {
  let resolved = false;
  void promise.then(() => (resolved = true));
  await flushPromises();
  return resolved;
}

test("without a change nothing is read and nothing is awaited", async () => {
  const { refresh, kinds } = recordedRefresh();
  expect(refresh.isBehind).toBe(false);
  expect(await isResolved(refresh.readChanges())).toBe(true);
  expect(kinds).toEqual([]);
});

test("readChanges() waits for the requests that are running, of each list", async () => {
  const { refresh, kinds, answer } = recordedRefresh();
  refresh.scheduleRead("tools");
  refresh.scheduleRead("prompts");
  const reading = refresh.readChanges();
  expect(refresh.isBehind).toBe(true);
  await answer();
  expect(await isResolved(reading)).toBe(false);
  await answer();
  expect(await isResolved(reading)).toBe(true);
  expect(kinds).toEqual(["tools", "prompts"]);
  expect(refresh.isBehind).toBe(false);
});

test("readChanges() sends a request that waits for its time at once, and only once", async () => {
  const { refresh, kinds, answer, clock } = recordedRefresh();
  refresh.scheduleRead("tools");
  await answer();
  refresh.scheduleRead("tools");
  expect(kinds).toHaveLength(1);
  const readings = Promise.all([refresh.readChanges(), refresh.readChanges()]);
  await flushPromises();
  expect(kinds).toHaveLength(2);
  expect(clock.pending).toBe(0);
  await answer();
  expect(await isResolved(readings)).toBe(true);
  await clock.advance(60_000);
  expect(kinds).toHaveLength(2);
});

test("readChanges() waits for a second request after a change during the first one", async () => {
  const { refresh, kinds, answer, clock } = recordedRefresh();
  refresh.scheduleRead("tools");
  refresh.scheduleRead("tools");
  const reading = refresh.readChanges();
  await answer();
  expect(kinds).toHaveLength(2);
  expect(await isResolved(reading)).toBe(false);
  await answer();
  expect(await isResolved(reading)).toBe(true);
  expect(clock.pending).toBe(0);
});

test("readChanges() does not wait for a change that follows it", async () => {
  const { refresh, kinds, answer } = recordedRefresh();
  refresh.scheduleRead("tools");
  const reading = refresh.readChanges();
  refresh.scheduleRead("tools");
  await answer();
  expect(await isResolved(reading)).toBe(true);
  expect(kinds).toHaveLength(1);
  refresh.close();
});

test("after close() no request is sent", async () => {
  const { refresh, kinds, answer, clock } = recordedRefresh();
  refresh.scheduleRead("tools");
  await answer();
  refresh.scheduleRead("tools");
  refresh.close();
  expect(await isResolved(refresh.readChanges())).toBe(true);
  refresh.scheduleRead("prompts");
  await clock.advance(60_000);
  expect(kinds).toEqual(["tools"]);
  expect(clock.pending).toBe(0);
});
