import type { Context } from "../../../packages/mcparley/src/server/core/context.ts";

/** A handler or user that waits until a test opens the gate. */
interface Waiting {
  ctx: Context | undefined;
  open(this: void): void;
}

/** All that waits inside the handlers of a server and a client, in the order in which it began. */
export class Gates {
  readonly #waiting = new Set<Waiting>();

  get size(): number {
    return this.#waiting.size;
  }

  /** Waits until the gate opens. With `heeds`, also resolves when the call is cancelled. */
  pass(ctx: Context | undefined, heeds?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const waiting: Waiting = {
        ctx,
        open: () => {
          this.#waiting.delete(waiting);
          resolve();
        },
      };
      this.#waiting.add(waiting);
      heeds?.addEventListener("abort", waiting.open, { once: true });
      if (heeds?.aborted) waiting.open();
    });
  }

  /** Opens one of the waiting gates, chosen by the number. */
  open(number: number): void {
    this.#pick(number)?.open();
  }

  openAll(): void {
    for (const waiting of this.#waiting) waiting.open();
  }

  /** The context of one of the handlers. */
  context(number: number): Context | undefined {
    return this.#pick(number)?.ctx;
  }

  #pick(number: number): Waiting | undefined {
    return [...this.#waiting][number % Math.max(1, this.#waiting.size)];
  }
}
