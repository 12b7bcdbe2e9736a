import type { Awaitable } from "./awaitable.ts";

interface BoundedQueueInit {
  /** Maximum number of actions that wait. */
  max: number;
  /** Called with the error of an action that throws. The next action runs then. */
  report: (error: unknown) => void;
  /** Called when the first action is dropped, and again only after the queue had room. */
  onFull: () => void;
}

/** Runs actions one after another, in the order in which they were added. Drops actions if too many wait. */
export class BoundedQueue {
  readonly #init: BoundedQueueInit;
  readonly #waiting: (() => Awaitable<unknown>)[] = [];
  #isRunning = false;
  #isFull = false;

  constructor(init: BoundedQueueInit) {
    this.#init = init;
  }

  add(action: () => Awaitable<unknown>): void {
    const { max, onFull } = this.#init;
    const wasFull = this.#isFull;
    this.#isFull = this.#waiting.length >= max;
    if (!this.#isFull) this.#waiting.push(action);
    else if (!wasFull) onFull();
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    for (let action = this.#waiting.shift(); action; action = this.#waiting.shift()) {
      try {
        await action();
      } catch (error) {
        this.#init.report(error);
      }
    }
    this.#isRunning = false;
  }
}
