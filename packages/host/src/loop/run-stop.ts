import { setMaxListeners } from "node:events";
import type { Clock } from "mcparley";
import { onAbort } from "@mcparley/internal/abort";
import type { CallActivity } from "../activity/active-calls.ts";

/** The reasons for which a run is stopped before its next step. */
export type StopReason = "cancelled" | "time";

/** Stops the request to the model and the calls of a run. An abort of the caller's signal cancels the run. */
export class RunStop {
  readonly #controller = new AbortController();
  #reason: StopReason | undefined;
  /** Removes the listener from the signal of the caller. */
  readonly close: () => void;

  constructor(signal: AbortSignal | undefined) {
    // Each of the parallel calls adds several listeners.
    setMaxListeners(0, this.#controller.signal);
    this.close = onAbort(signal, () => this.stop("cancelled"));
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The reason of the first stop. */
  get reason(): StopReason | undefined {
    return this.#reason;
  }

  stop(reason: StopReason): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    const message = reason === "time" ? "The run reached its limit of time." : "The run was cancelled.";
    this.#controller.abort(new Error(message));
  }
}

/** Milliseconds that a request or a call may take to end after it was aborted. */
const GRACE = 5000;

/** Waits for a promise. After the signal is aborted, it waits for at most 5 seconds more. It never rejects. */
export async function waitWithGrace(
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

/** A call of a run, from the answer of the model to its result. */
export class OpenCall {
  readonly #controller = new AbortController();
  #isCancelled = false;

  /** Aborted when the user cancels the call, and when the run stops. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Whether the user has cancelled the call. */
  get isCancelled(): boolean {
    return this.#isCancelled;
  }

  cancel(): void {
    this.#isCancelled = true;
    this.abort(new Error("The user cancelled the call."));
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason);
  }
}

/** The calls of a run that have no result yet: those in flight, and those that wait for their turn. */
export class OpenCalls {
  readonly #calls = new Set<OpenCall>();
  /** Removes the listener from the signal of the run. */
  readonly close: () => void;

  /** `stopped` is the signal of the run. */
  constructor(runSignal: AbortSignal) {
    this.close = onAbort(runSignal, (reason) => {
      for (const call of this.#calls) call.abort(reason);
    });
  }

  /** Records a call. */
  begin(): OpenCall {
    const call = new OpenCall();
    this.#calls.add(call);
    return call;
  }

  /** Removes a call. */
  end(call: OpenCall): void {
    this.#calls.delete(call);
  }

  /** Cancels the calls that were not cancelled before, and returns their number. */
  cancel(): number {
    // A call that ignores its cancellation is not counted by a second request of the user.
    const calls = [...this.#calls].filter(({ isCancelled }) => !isCancelled);
    for (const call of calls) call.cancel();
    return calls.length;
  }
}

/**
 * Measures the time of a run. It stands still while at least one approval, form, URL or sampling request waits for its answer. Sampling
 * requests are included because a person reviews them; their number and tokens have limits of their own.
 */
export class RunTimer {
  readonly #clock: Clock;
  readonly #onExpired: () => void;
  /** The number of questions of each call that a person has not answered. */
  readonly #questions = new Map<string, number>();
  #left: number;
  #startedAt = 0;
  #timer: unknown;
  #isClosed = false;

  constructor({ clock, ms, onExpired }: { clock: Clock; ms: number; onExpired: () => void }) {
    this.#clock = clock;
    this.#onExpired = onExpired;
    this.#left = ms;
    this.#resume();
  }

  /** Stops the time while a person answers a question of this call. */
  activity(callId: string, activity: CallActivity): void {
    if (!isAnsweredByPerson(activity)) return;
    const change = activity.state === "waiting" ? 1 : -1;
    this.#setQuestions(callId, (this.#questions.get(callId) ?? 0) + change);
  }

  /** Ends the questions of a call. */
  removeCall(callId: string): void {
    this.#setQuestions(callId, 0);
  }

  close(): void {
    this.#isClosed = true;
    this.#pause();
  }

  #setQuestions(callId: string, count: number): void {
    if (count > 0) this.#questions.set(callId, count);
    else this.#questions.delete(callId);
    if (this.#questions.size > 0) this.#pause();
    else this.#resume();
  }

  #pause(): void {
    if (this.#timer === undefined) return;
    this.#left -= this.#clock.now() - this.#startedAt;
    this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #resume(): void {
    if (this.#timer !== undefined || this.#isClosed) return;
    this.#startedAt = this.#clock.now();
    this.#timer = this.#clock.setTimeout(this.#onExpired, Math.max(0, this.#left));
  }
}

function isAnsweredByPerson(activity: CallActivity): activity is CallActivity & { type: "approval" | "input-request" } {
  return activity.type === "approval" || (activity.type === "input-request" && activity.kind !== "roots");
}
