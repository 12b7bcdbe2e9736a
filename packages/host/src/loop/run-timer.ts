import type { Clock } from "mcparley";
import type { CallActivity } from "../activity/call-activity.ts";

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
