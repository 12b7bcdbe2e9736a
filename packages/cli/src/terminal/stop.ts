import type { CommandIo } from "./io.ts";
import { exitCodes } from "./exit-codes.ts";

/** The reasons to end a command early: Ctrl-C, SIGTERM, a closed stdout, or the end of `--timeout`. */
export interface Stop {
  /** Aborted by the first Ctrl-C or SIGTERM, when the reader of stdout closes the pipe, or when the time is over. */
  readonly signal: AbortSignal;
  /** Resolves at the second Ctrl-C or SIGTERM. */
  readonly ended: Promise<void>;
  readonly reason: "interrupted" | "terminated" | "broken_pipe" | "timeout" | undefined;
  /** Acts as a Ctrl-C. For terminals that deliver it as a key. */
  interrupt(): void;
  breakPipe(): void;
  /** Ends the command after a number of milliseconds. Undefined removes the limit. */
  limit(ms: number | undefined): void;
  /** Stops the time of the limit, for example while a user is asked. The returned function continues it. */
  pause(): () => void;
  /** Stops listening to Ctrl-C and SIGTERM. */
  dispose(): void;
}

/** Listens to Ctrl-C and SIGTERM. The first one calls `onFirst` and aborts `signal`. The second one resolves `ended`. */
export function createStop(io: Pick<CommandIo, "onInterrupt" | "onTerminate">, onFirst: () => void): Stop {
  const controller = new AbortController();
  let reason: Stop["reason"];
  let end: (() => void) | undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const abort = (why: NonNullable<Stop["reason"]>): void => {
    reason = why;
    controller.abort(new Error(`The command was stopped: ${why}.`));
  };
  const timer = new PausableTimer(() => {
    if (reason === undefined) abort("timeout");
  });
  const endBy = (why: "interrupted" | "terminated"): void => {
    if (reason !== undefined) {
      reason = why;
      end?.();
      return;
    }
    onFirst();
    abort(why);
  };
  const interrupt = (): void => endBy("interrupted");
  const removals = [io.onInterrupt(interrupt), io.onTerminate(() => endBy("terminated"))];
  return {
    signal: controller.signal,
    ended,
    get reason() {
      return reason;
    },
    interrupt,
    breakPipe: () => {
      if (reason === undefined) abort("broken_pipe");
    },
    limit: (ms) => timer.set(ms),
    pause: () => timer.pause(),
    dispose: () => {
      timer.set(undefined);
      for (const stopListening of removals) stopListening();
    },
  };
}

/** Returns the exit code of a command that a signal has ended. Undefined if none has. */
export function endedBySignal({ reason }: Stop): number | undefined {
  return reason === "interrupted" || reason === "terminated" ? exitCodes[reason] : undefined;
}

/** The longest time of a timer, 24 days. A longer limit has no effect. */
const longest = 2_147_483_647;

/** Calls a function once after the time that was not spent in pauses. */
class PausableTimer {
  readonly #expire: () => void;
  #timer: NodeJS.Timeout | undefined;
  #left: number | undefined;
  #startedAt = 0;
  #pauses = 0;

  constructor(expire: () => void) {
    this.#expire = expire;
  }

  set(ms: number | undefined): void {
    clearTimeout(this.#timer);
    this.#left = ms === undefined || ms > longest ? undefined : ms;
    if (this.#pauses === 0) this.#start();
  }

  pause(): () => void {
    if (this.#pauses === 0 && this.#left !== undefined) {
      clearTimeout(this.#timer);
      this.#left = Math.max(0, this.#left - (performance.now() - this.#startedAt));
    }
    this.#pauses += 1;
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      this.#pauses -= 1;
      if (this.#pauses === 0) this.#start();
    };
  }

  #start(): void {
    if (this.#left === undefined) return;
    this.#startedAt = performance.now();
    this.#timer = setTimeout(this.#expire, this.#left);
  }
}
