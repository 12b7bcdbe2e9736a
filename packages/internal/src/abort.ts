import { setMaxListeners } from "node:events";

/**
 * Calls `listener` with the reason when the signal is aborted, or at once if it is aborted already. The returned function removes the
 * listener. Any number of listeners can wait for one signal.
 */
export function onAbort(signal: AbortSignal | undefined, listener: (reason: unknown) => void): () => void {
  if (!signal) return () => {};
  const callListener = (): void => listener(signal.reason);
  if (signal.aborted) {
    callListener();
    return () => {};
  }
  setMaxListeners(0, signal);
  signal.addEventListener("abort", callListener, { once: true });
  return () => signal.removeEventListener("abort", callListener);
}
