import type { CommandIo } from "./io.ts";

/** The reasons to end a command early: Ctrl-C, or a closed stdout. */
export interface Stop {
  /** Aborted by the first Ctrl-C, or when the reader of stdout closes the pipe. */
  readonly signal: AbortSignal;
  /** Resolves at the second Ctrl-C. */
  readonly ended: Promise<void>;
  readonly reason: "interrupted" | "broken_pipe" | undefined;
  /** Acts as a Ctrl-C. For terminals that deliver it as a key. */
  interrupt(): void;
  breakPipe(): void;
  /** Stops listening to Ctrl-C. */
  dispose(): void;
}

/** Listens to Ctrl-C. The first one calls `onFirst` and aborts `signal`. The second one resolves `ended`. */
export function createStop(io: Pick<CommandIo, "onInterrupt">, onFirst: () => void): Stop {
  const controller = new AbortController();
  let reason: Stop["reason"];
  const second = new AbortController();
  const ended = new Promise<void>((resolve) => {
    second.signal.addEventListener("abort", () => resolve(), { once: true });
  });
  const abort = (why: NonNullable<Stop["reason"]>): void => {
    reason = why;
    controller.abort();
  };
  const interrupt = (): void => {
    if (reason !== undefined) {
      reason = "interrupted";
      second.abort();
      return;
    }
    onFirst();
    abort("interrupted");
  };
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
    dispose: io.onInterrupt(interrupt),
  };
}
