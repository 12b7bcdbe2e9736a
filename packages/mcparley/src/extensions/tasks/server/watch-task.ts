import { isOver } from "../task.ts";
import type { TaskRecord } from "./record.ts";
import type { Runner } from "./runner.ts";

/** Sees a task as it is; undefined where it is gone. False ends the watching. */
export type See = (record: TaskRecord | undefined) => boolean | void;

/**
 * Calls `see` with a task as it is now and after each change, until it is over or gone, or `see` gives false.
 *
 * It looks now and then without being told to as well, so that a task whose process has died does not go unnoticed.
 * Gives what ends it before that.
 */
export function watchTask(runner: Runner, taskId: string, see: See): () => void {
  const watch = new Watch(runner, taskId, see);
  watch.begin().catch((error: unknown) => runner.core.report(error, undefined));
  return () => watch.end();
}

class Watch {
  readonly #runner: Runner;
  readonly #taskId: string;
  readonly #see: See;
  #isEnded = false;
  #isLooking = false;
  #hasChanged = false;
  #timer: unknown;
  #unwatch: (() => Promise<void>) | undefined;

  constructor(runner: Runner, taskId: string, see: See) {
    this.#runner = runner;
    this.#taskId = taskId;
    this.#see = see;
  }

  async begin(): Promise<void> {
    const unwatch = await this.#runner.table.watch(this.#taskId, () => void this.#look());
    if (this.#isEnded) return unwatch();
    this.#unwatch = unwatch;
    this.#lookLater();
    await this.#look();
  }

  end(): void {
    const { core } = this.#runner;
    this.#isEnded = true;
    if (this.#timer !== undefined) core.clock.clearTimeout(this.#timer);
    this.#unwatch?.().catch((error: unknown) => core.report(error, undefined));
    this.#unwatch = undefined;
  }

  /** Looks until nothing has changed meanwhile: one look at a time, so that nobody sees a task go backwards. */
  async #look(): Promise<void> {
    this.#hasChanged = true;
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      while (this.#hasChanged && !this.#isEnded) await this.#lookOnce();
    } catch (error) {
      this.#runner.core.report(error, undefined);
    } finally {
      this.#isLooking = false;
    }
  }

  async #lookOnce(): Promise<void> {
    this.#hasChanged = false;
    const found = await this.#runner.table.read(this.#taskId);
    const record = found && (await this.#runner.revived(found));
    if (this.#isEnded) return;
    if (this.#see(record) === false || !record || isOver(record)) this.end();
  }

  #lookLater(): void {
    const { core, defaults } = this.#runner;
    this.#timer = core.clock.setTimeout(() => {
      if (this.#isEnded) return;
      this.#lookLater();
      void this.#look();
    }, defaults.lease);
  }
}
