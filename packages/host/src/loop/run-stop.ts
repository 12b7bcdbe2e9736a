import { setMaxListeners } from "node:events";
import type { Clock } from "mcparley";
import { onAbort } from "@mcparley/internal/abort";
import type { CallActivity } from "../activity/active-calls.ts";

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

  function stop(cause: StopReason): void {
    if (reason !== undefined) return;
    reason = cause;
    controller.abort(new Error(cause === "time" ? "The run reached its limit of time." : "The run was cancelled."));
  }

  const close = onAbort(signal, () => stop("cancelled"));
  return {
    signal: controller.signal,
    get reason() {
      return reason;
    },
    stop,
    close,
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
  let removeListener: (() => void) | undefined;
  const late = new Promise<void>((resolve) => {
    removeListener = onAbort(signal, () => (timer = clock.setTimeout(resolve, GRACE)));
  });
  await Promise.race([promise.catch(() => {}), late]);
  removeListener?.();
  if (timer !== undefined) clock.clearTimeout(timer);
}

/** The calls of a run that have no result yet: those in flight, and those that wait for their turn. */
export interface OpenCalls {
  /** Records a call. */
  begin(this: void): OpenCall;
  /** Aborts the calls that were not cancelled before, and returns their number. */
  cancel(this: void): number;
  /** Removes the listener from the signal of the run. */
  close(this: void): void;
}

/** A call of a run, from the answer of the model to its result. */
export interface OpenCall {
  /** Aborted when the user cancels the call, and when the run stops. */
  readonly signal: AbortSignal;
  /** Whether the user has cancelled the call. */
  readonly isCancelled: boolean;
  /** Removes the call. */
  end(this: void): void;
}

/** Returns the record of a run without calls. `stopped` is the signal of the run. */
export function createOpenCalls(stopped: AbortSignal): OpenCalls {
  const open = new Set<OpenCall & { isCancelled: boolean; readonly controller: AbortController }>();
  const close = onAbort(stopped, (reason) => {
    for (const { controller } of open) controller.abort(reason);
  });
  return {
    begin() {
      const controller = new AbortController();
      const call = { controller, signal: controller.signal, isCancelled: false, end: () => void open.delete(call) };
      open.add(call);
      return call;
    },
    cancel() {
      // A call that ignores its cancellation is not counted by a second request of the user.
      const calls = [...open].filter(({ isCancelled }) => !isCancelled);
      for (const call of calls) {
        call.isCancelled = true;
        call.controller.abort(new Error("The user cancelled the call."));
      }
      return calls.length;
    },
    close,
  };
}

/** Measures the time of a run, without the time in which a person answers. */
export interface RunTimer {
  /** Stops the time while a person answers a question of this call. */
  activity(this: void, callId: string, activity: CallActivity): void;
  /** Ends the waits of a call. */
  ended(this: void, callId: string): void;
  close(this: void): void;
}

/**
 * Starts the timer of a run. It stands still while at least one approval, form, URL or sampling request waits for its answer. Sampling
 * requests are included because a person reviews them; their number and tokens have limits of their own.
 */
export function startRunTimer({ clock, ms, onExpired }: { clock: Clock; ms: number; onExpired: () => void }): RunTimer {
  const waits = new Map<string, number>();
  let left = ms;
  let startedAt = clock.now();
  let timer: unknown = clock.setTimeout(onExpired, ms);
  let isClosed = false;

  function pause(): void {
    if (timer === undefined) return;
    left -= clock.now() - startedAt;
    clock.clearTimeout(timer);
    timer = undefined;
  }

  function resume(): void {
    if (timer !== undefined || isClosed) return;
    startedAt = clock.now();
    timer = clock.setTimeout(onExpired, Math.max(0, left));
  }

  function setWaits(callId: string, count: number): void {
    if (count > 0) waits.set(callId, count);
    else waits.delete(callId);
    if (waits.size > 0) pause();
    else resume();
  }

  return {
    activity(callId, activity) {
      if (!isAnsweredByPerson(activity)) return;
      const change = activity.state === "waiting" ? 1 : -1;
      setWaits(callId, (waits.get(callId) ?? 0) + change);
    },
    ended: (callId) => setWaits(callId, 0),
    close() {
      isClosed = true;
      pause();
    },
  };
}

function isAnsweredByPerson(activity: CallActivity): activity is CallActivity & { type: "approval" | "input-request" } {
  return activity.type === "approval" || (activity.type === "input-request" && activity.kind !== "roots");
}
