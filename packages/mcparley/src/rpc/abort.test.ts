import { getEventListeners } from "node:events";
import { expect, test, vi } from "vitest";
import { fakeClock } from "../testing/fake-clock.ts";
import { link, linkWithin, onAbort, unlessAborted } from "./abort.ts";

const listenersOf = (signal: AbortSignal): number => getEventListeners(signal, "abort").length;

test("a signal has one listener for all callbacks, and no listener without callbacks", async () => {
  const { signal } = new AbortController();
  const links = Array.from({ length: 20 }, () => link(signal));
  const settle: (() => void)[] = [];
  const running = Array.from({ length: 20 }, () =>
    unlessAborted(new Promise<void>((resolve) => settle.push(resolve)), signal, "A test"),
  );
  expect(listenersOf(signal)).toBe(1);
  for (const resolve of settle) resolve();
  await Promise.all(running);
  expect(listenersOf(signal)).toBe(1);
  for (const linked of links) linked.unlink();
  expect(listenersOf(signal)).toBe(0);
});

test("an abort calls each callback once, except those that were removed", () => {
  const controller = new AbortController();
  const [first, removed, last] = [vi.fn(), vi.fn(), vi.fn()];
  onAbort(controller.signal, first);
  onAbort(controller.signal, removed)();
  onAbort(controller.signal, last);
  controller.abort();
  controller.abort();
  expect([first, removed, last].map(({ mock }) => mock.calls.length)).toEqual([1, 0, 1]);
});

test("a signal can have callbacks again after its listener was removed", () => {
  const controller = new AbortController();
  onAbort(controller.signal, vi.fn())();
  const again = vi.fn();
  onAbort(controller.signal, again);
  controller.abort();
  expect(again).toHaveBeenCalledOnce();
});

test("an abort removes the listener, also if no callback is removed", () => {
  const controller = new AbortController();
  for (const callback of [vi.fn(), vi.fn()]) onAbort(controller.signal, callback);
  controller.abort();
  expect(listenersOf(controller.signal)).toBe(0);
});

test("a callback that is removed twice does not remove the callbacks that were added after it", () => {
  const controller = new AbortController();
  const remove = onAbort(controller.signal, vi.fn());
  remove();
  const later = vi.fn();
  onAbort(controller.signal, later);
  remove();
  controller.abort();
  expect(later).toHaveBeenCalledOnce();
});

test("a signal with a time limit is aborted at the limit, and by the signals that it is linked to", async () => {
  const clock = fakeClock();
  const limit = { clock, ms: 100, message: "Too late." };
  const caller = new AbortController();
  const [first, second] = [linkWithin(limit, caller.signal), linkWithin(limit, caller.signal)];
  await clock.advance(99);
  expect(first.signal.aborted).toBe(false);
  second.unlink();
  await clock.advance(1);
  expect(first.signal.reason).toMatchObject({ code: "timeout", message: "Too late." });
  expect(second.signal.aborted).toBe(false);
  first.unlink();
  expect(clock.pending).toBe(0);
  expect(listenersOf(caller.signal)).toBe(0);

  const third = linkWithin(limit, undefined, caller.signal);
  caller.abort("cancelled");
  expect(third.signal.reason).toBe("cancelled");
  third.unlink();
  expect(clock.pending).toBe(0);
});
