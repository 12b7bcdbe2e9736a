import { setMaxListeners } from "node:events";
import type { Clock } from "mcparley";

/** The reasons for which a run is stopped before its next step. */
type StopReason = "cancelled" | "time";

/** Stops the request to the model and the calls of a run. */
export interface RunStop {
  readonly signal: AbortSignal;
  /** The reason of the first stop. */
  readonly reason: StopReason | undefined;
  stop(this: void, reason: StopReason): void;
  /** Removes the listener from the signal of the caller. */
  close(this: void): void;
}

/** Returns the stop of a run. An abort of the caller's signal cancels the run. */
export function createStop(signal: AbortSignal | undefined): RunStop {
  const controller = new AbortController();
  let reason: StopReason | undefined;
  // Each of the parallel calls adds several listeners.
  setMaxListeners(0, controller.signal);

  function stop(given: StopReason): void {
    if (reason !== undefined) return;
    reason = given;
    controller.abort(new Error(given === "time" ? "The run reached its limit of time." : "The run was cancelled."));
  }

  const onAbort = (): void => stop("cancelled");
  signal?.addEventListener("abort", onAbort, { once: true });
  if (signal?.aborted) onAbort();
  return {
    signal: controller.signal,
    get reason() {
      return reason;
    },
    stop,
    close: () => signal?.removeEventListener("abort", onAbort),
  };
}

/** Milliseconds that a request or a call may take to end after it was aborted. */
const GRACE = 5000;

/** Waits for a promise. After the signal is aborted, it waits for at most 5 seconds more. It never rejects. */
export async function settled(
  promise: Promise<unknown>,
  { signal, clock }: { signal: AbortSignal; clock: Clock },
): Promise<void> {
  let timer: unknown;
  let onAbort: (() => void) | undefined;
  const late = new Promise<void>((resolve) => {
    onAbort = () => (timer = clock.setTimeout(resolve, GRACE));
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
  await Promise.race([promise.catch(() => {}), late]);
  if (onAbort) signal.removeEventListener("abort", onAbort);
  if (timer !== undefined) clock.clearTimeout(timer);
}
