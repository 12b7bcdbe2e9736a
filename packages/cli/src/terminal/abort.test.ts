import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { untilAborted } from "./abort.ts";

test("settles like the work, and leaves no listener", async () => {
  const { signal } = new AbortController();
  expect(await untilAborted(Promise.resolve("done"), signal)).toBe("done");
  await expect(untilAborted(Promise.reject(new Error("No.")), signal)).rejects.toThrow("No.");
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("ends at the abort, and ignores the error of the work", async () => {
  const controller = new AbortController();
  const { promise, reject } = withRejecter();
  const waiting = untilAborted(promise, controller.signal);
  controller.abort();
  expect(await waiting).toBeUndefined();
  // An error that nobody handles would fail the test.
  reject(new Error("Too late."));
});

test("does not wait if the signal is aborted already", async () => {
  expect(await untilAborted(new Promise(() => {}), AbortSignal.abort())).toBeUndefined();
});

function withRejecter(): { promise: Promise<never>; reject: (error: Error) => void } {
  let reject: (error: Error) => void = () => {};
  const promise = new Promise<never>((_resolve, rejecter) => {
    reject = rejecter;
  });
  return { promise, reject };
}
