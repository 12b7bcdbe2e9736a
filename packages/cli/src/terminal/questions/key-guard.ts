import type { Writable } from "node:stream";
import { writeText } from "../output.ts";
import type { CommandIo } from "../io.ts";

/** Milliseconds after a question was written in which a key does not answer it. A person needs longer to read the question. */
const readingTime = 500;

/** Decides whether a key answers the question of a terminal, or was typed before a person could read it. */
export class KeyGuard {
  readonly #schedule: CommandIo["schedule"];
  readonly #output: Writable;
  #cancel: (() => void) | undefined;

  /** `output` is the stream on which questions are written. */
  constructor({ schedule }: Pick<CommandIo, "schedule">, output: Writable) {
    this.#schedule = schedule;
    this.#output = output;
  }

  /** Whether the question takes no keys yet. */
  get isActive(): boolean {
    return this.#cancel !== undefined;
  }

  /**
   * Writes a question, and calls `onEnd` when keys can answer it: 500 ms after the output has left the process.
   *
   * A guard that is active ends without a call of its `onEnd`.
   */
  start(write: () => void, onEnd: () => void): void {
    this.stop();
    let isStopped = false;
    let cancelTimer: (() => void) | undefined;
    this.#cancel = () => {
      isStopped = true;
      cancelTimer?.();
    };
    write();
    const startTimer = (): void => {
      if (isStopped) return;
      cancelTimer = this.#schedule(readingTime, () => {
        this.#cancel = undefined;
        onEnd();
      });
    };
    // The callback of a write is called when all output before it has left the process.
    if (this.#output.writableLength === 0) startTimer();
    else writeText(this.#output, "", startTimer);
  }

  /** Ends the guard, for example because the question was withdrawn. */
  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }
}
