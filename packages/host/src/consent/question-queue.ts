import { unlessAborted } from "../async/timing.ts";
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
    const answered = unlessAborted(asked, signal);
    // The next question waits for this answer, and for the questions before this one, also if this one is aborted earlier.
    last = before.then(() => answered).catch(() => {});
    return answered;
  };
}
