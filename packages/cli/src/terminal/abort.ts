import { onAbort } from "@mcparley/internal/abort";

/**
 * Settles like the work, or resolves to undefined if the signal is aborted first. The work is not stopped, and its error is ignored.
 *
 * When the function has settled, the signal has no listener of it.
 */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const removeListener = onAbort(signal, () => resolve(undefined));
    void work.then(resolve, reject).finally(removeListener);
  });
}

/**
 * Runs work with a signal that is aborted with the first of several, and with its reason. When the work has ended, the signals have no
 * listener of it. `AbortSignal.any` would keep an entry in each of them.
 */
export async function withAnySignal<T>(
  signals: readonly AbortSignal[],
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const removals = signals.map((signal) => onAbort(signal, (reason) => controller.abort(reason)));
  try {
    return await work(controller.signal);
  } finally {
    for (const removeListener of removals) removeListener();
  }
}
