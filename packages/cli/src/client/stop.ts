import type { CommandIo } from "./io.ts";

/** What ends a command before its time: Ctrl-C, or nobody reading its output. */
export interface Stop {
  /** Aborted by the first Ctrl-C, or when the output is not wanted any more. */
  readonly signal: AbortSignal;
  /** Resolves at the second Ctrl-C. */
  readonly ended: Promise<void>;
  readonly reason: "interrupted" | "broken_pipe" | undefined;
  /** What a Ctrl-C does, for where it is read as a key. */
  interrupt(): void;
  breakPipe(): void;
  /** Stops listening to Ctrl-C. */
  dispose(): void;
}

/** Listens to Ctrl-C: the first one calls `onFirst` and aborts, the second one ends. */
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
