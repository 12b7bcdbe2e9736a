import { setMaxListeners } from "node:events";
import type { Awaitable } from "../values/awaitable.ts";

/**
 * Asks one question after another, in the order of the calls.
 *
 * `ask` starts when all earlier questions are answered or aborted. The promise rejects with the reason of the signal as soon as it
 * is aborted, and the next question follows, also if `ask` does not settle. `ask` must not wait for another question of the queue.
 */
export type QuestionQueue = <T>(ask: () => Awaitable<T>, signal: AbortSignal) => Promise<T>;

/** Returns a queue of questions to one person. */
export function createQuestionQueue(): QuestionQueue {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(ask: () => Awaitable<T>, signal: AbortSignal): Promise<T> => {
    const before = last;
    const asked = (async () => {
      await before;
      signal.throwIfAborted();
      return ask();
    })();
    const answered = untilAborted(asked, signal);
    // The next question waits for this answer, and for the questions before this one, also if this one is aborted earlier.
    last = before.then(() => answered).catch(() => {});
    return answered;
  };
}

/** Settles like the promise, or rejects when the signal is aborted. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    // All calls of a run have one signal, and any number of them can wait.
    setMaxListeners(0, signal);
    const onAbort = (): void => reject(signal.reason as Error);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    void promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
