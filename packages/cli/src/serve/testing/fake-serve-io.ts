import { PassThrough, Writable } from "node:stream";
import type { ServeIo } from "../serving.ts";

/** A fake environment for `mcparley serve`. */
export interface FakeServeIo extends ServeIo {
  readonly stdin: PassThrough;
  out(): string;
  err(): string;
  /** Resolves when the text has been written to stdout or stderr. */
  seen(text: string): Promise<void>;
  pressCtrlC(): void;
  terminate(): void;
}

export function fakeServeIo(
  options: { cwd?: string; env?: Record<string, string>; stdout?: Writable } = {},
): FakeServeIo {
  const written = { out: "", err: "" };
  const waiting = new Set<() => void>();
  const collect = (stream: "out" | "err"): Writable =>
    new Writable({
      write(chunk: Buffer, _, done) {
        written[stream] += chunk.toString();
        for (const check of waiting) check();
        done();
      },
    });
  const interrupts = new Set<() => void>();
  const terminations = new Set<() => void>();
  return {
    stdin: new PassThrough(),
    stdout: options.stdout ?? collect("out"),
    stderr: collect("err"),
    env: options.env ?? {},
    cwd: options.cwd ?? "/",
    isTerminal: { stdin: false, stdout: false, stderr: false },
    onInterrupt: listenIn(interrupts),
    onTerminate: listenIn(terminations),
    out: () => written.out,
    err: () => written.err,
    seen: (text) =>
      new Promise((resolve) => {
        const check = (): void => {
          if (!(written.out + written.err).includes(text)) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        check();
      }),
    pressCtrlC: () => [...interrupts].forEach((listener) => listener()),
    terminate: () => [...terminations].forEach((listener) => listener()),
  };
}

function listenIn(listeners: Set<() => void>): (listener: () => void) => () => void {
  return (listener) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  };
}
