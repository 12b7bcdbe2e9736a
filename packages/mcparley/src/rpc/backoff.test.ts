import { expect, test } from "vitest";
import { fakeClock } from "../testing/fake-clock.ts";
import { Backoff, retryAfterOf } from "./backoff.ts";
import type { Clock } from "./clock.ts";
import { LocalError } from "./errors.ts";

/** A clock whose timers fire immediately, and the requested delays. */
function instantClock(): { clock: Clock; delays: number[] } {
  const delays: number[] = [];
  const setTimeout = (fn: () => void, ms: number): void => {
    delays.push(ms);
    queueMicrotask(fn);
  };
  return { clock: { now: () => 0, setTimeout, clearTimeout: () => {} }, delays };
}

function backoff(): { tries: Backoff; delayOf: (asked?: number) => Promise<number> } {
  const { clock, delays } = instantClock();
  const tries = new Backoff(clock, new AbortController().signal);
  const delayOf = async (asked?: number): Promise<number> => {
    await tries.wait(asked);
    return delays.at(-1) ?? Infinity;
  };
  return { tries, delayOf };
}

test("allows ten attempts with delays that double up to 30 seconds", async () => {
  const { tries, delayOf } = backoff();
  for (let time = 0; time < 10; time++) {
    expect(tries.isSpent).toBe(false);
    const longest = Math.min(30_000, 500 * 2 ** time);
    const delay = await delayOf();
    expect(delay).toBeGreaterThanOrEqual(longest / 2);
    expect(delay).toBeLessThanOrEqual(longest);
  }
  expect(tries.isSpent).toBe(true);
});

test("a message restores all attempts, and so does a stream that was open for two seconds", async () => {
  const { tries, delayOf } = backoff();
  const useAttempts = async (): Promise<void> => {
    while (!tries.isSpent) await delayOf();
  };
  await useAttempts();
  tries.wasOpen(1_999);
  expect(tries.isSpent).toBe(true);
  tries.wasOpen(2_000);
  expect(tries.isSpent).toBe(false);
  expect(await delayOf()).toBeLessThanOrEqual(500);
  await useAttempts();
  tries.reset();
  expect(await delayOf()).toBeLessThanOrEqual(500);
});

test("waits at least for the time that the peer requests, up to one hour", async () => {
  const { delayOf } = backoff();
  expect(await delayOf(0)).toBeGreaterThanOrEqual(250);
  expect(await delayOf(1)).toBeGreaterThanOrEqual(250);
  expect(await delayOf(7_000)).toBeGreaterThanOrEqual(7_000);
  const longest = await delayOf(1e15);
  expect(longest).toBeGreaterThanOrEqual(3_600_000);
  expect(longest).toBeLessThan(2 ** 31);
});

test("callers that wait at the same time share one attempt", async () => {
  const clock = fakeClock();
  const tries = new Backoff(clock, new AbortController().signal);
  const both = Promise.all([tries.wait(), tries.wait()]);
  expect(clock.pending).toBe(1);
  await clock.advance(500);
  await both;
});

test("an abort ends the wait and its timer", async () => {
  const clock = fakeClock();
  const controller = new AbortController();
  const waiting = new Backoff(clock, controller.signal).wait();
  controller.abort(new LocalError("closed", "closed"));
  await expect(waiting).rejects.toMatchObject({ code: "closed" });
  expect(clock.pending).toBe(0);
});

test("reads Retry-After from the errors of HTTP", () => {
  expect(retryAfterOf(new LocalError("http", "", { data: { status: 503, retryAfterMs: 2_000 } }))).toBe(2_000);
  expect(retryAfterOf(new LocalError("http", "", { data: { status: 503 } }))).toBeUndefined();
  expect(retryAfterOf(new LocalError("closed", ""))).toBeUndefined();
  expect(retryAfterOf(new Error("other"))).toBeUndefined();
});
