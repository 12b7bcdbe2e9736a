import type { Awaitable } from "./awaitable.ts";

interface QueueOptions {
  /** Maximum number of actions that wait. */
  max: number;
  /** Called with the error of an action that throws. The next action runs then. */
  report: (error: unknown) => void;
  /** Called when the first action is dropped, and again only after the queue had room. */
  onFull: () => void;
}

/** Adds an action to a queue. */
export type Enqueue = (action: () => Awaitable<unknown>) => void;

/** Returns a function that runs actions one after another, in the order of its calls. Drops actions if too many wait. */
export function boundedQueue({ max, report, onFull }: QueueOptions): Enqueue {
  const waiting: (() => Awaitable<unknown>)[] = [];
  let isRunning = false;
  let isFull = false;

  async function run(): Promise<void> {
    isRunning = true;
    for (let action = waiting.shift(); action; action = waiting.shift()) {
      try {
        await action();
      } catch (error) {
        report(error);
      }
    }
    isRunning = false;
  }

  return (action) => {
    const wasFull = isFull;
    isFull = waiting.length >= max;
    if (!isFull) waiting.push(action);
    else if (!wasFull) onFull();
    if (!isRunning) void run();
  };
}
