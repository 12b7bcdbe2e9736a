import type { CommandIo } from "./io.ts";
import { exitCodes } from "./exit-codes.ts";

type StopReason = "interrupted" | "terminated" | "broken_pipe" | "timeout";

/** Ends a command early: after Ctrl-C, SIGTERM, a closed stdout, or the end of `--timeout`. */
export class Stop {
  /** Resolves at the second Ctrl-C or SIGTERM. */
  readonly secondSignal: Promise<void>;
  readonly #controller = new AbortController();
  readonly #onFirst: () => void;
  readonly #removals: readonly (() => void)[];
  readonly #timer = new PausableTimer(() => this.#abort("timeout"));
  #reason: StopReason | undefined;
  #end: (() => void) | undefined;

  /** Listens to Ctrl-C and SIGTERM. The first of them calls `onFirst` and aborts `signal`. */
  constructor(io: Pick<CommandIo, "onInterrupt" | "onTerminate">, onFirst: () => void) {
    this.#onFirst = onFirst;
    this.secondSignal = new Promise<void>((resolve) => (this.#end = resolve));
    this.#removals = [io.onInterrupt(() => this.interrupt()), io.onTerminate(() => this.#endBySignal("terminated"))];
  }

  /** Aborted by the first Ctrl-C or SIGTERM, when the reader of stdout closes the pipe, or when the time is over. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get reason(): StopReason | undefined {
    return this.#reason;
  }

  /** Acts as a Ctrl-C. For terminals that deliver it as a key. */
  interrupt(): void {
    this.#endBySignal("interrupted");
  }

  breakPipe(): void {
    this.#abort("broken_pipe");
  }

  /** Ends the command after a number of milliseconds. Undefined removes the limit. */
  limit(ms: number | undefined): void {
    this.#timer.set(ms);
  }

  /** Stops the time of the limit, for example while a user is asked. The returned function continues it. */
  pause(): () => void {
    return this.#timer.pause();
  }

  /** Stops listening to Ctrl-C and SIGTERM. */
  dispose(): void {
    this.limit(undefined);
    for (const stopListening of this.#removals) stopListening();
  }

  #endBySignal(reason: "interrupted" | "terminated"): void {
    if (this.#reason === undefined) {
      this.#onFirst();
      this.#abort(reason);
    } else {
      this.#reason = reason;
      this.#end?.();
    }
  }

  #abort(reason: StopReason): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#controller.abort(new Error(`The command was stopped: ${reason}.`));
  }
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
    let isEnded = false;
    return () => {
      if (isEnded) return;
      isEnded = true;
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
