import { type Clock, repeat } from "../../../rpc/clock.ts";
import { readLog } from "../../../store/log-tail.ts";
import type { Store } from "../../../store/store.ts";

const runnersKey = "task-runners";
const sweepKey = "task-sweep";
const aliveKey = (runner: string): string => `task-runner:${runner}`;
const startedLog = (runner: string): string => `tasks-begun:${runner}`;

/** Maximum length of a process's log of started tasks. Running tasks are appended again before they drop out. */
const maxLogged = 10_000;
/** Milliseconds after which the list of processes expires. */
const listTtl = 30 * 86_400_000;

interface OrphansInit {
  store: Store;
  clock: Clock;
  lease: number;
  /** Milliseconds for which a task may be kept. */
  maxTtlMs: number;
  /** Returns the tasks that run in this process. */
  running: () => Iterable<string>;
  /** Takes over a task whose process has died. Returns whether it is over or runs again. */
  adopt: (taskId: string) => Promise<boolean>;
  report: (error: unknown) => void;
}

/**
 * Finds the tasks of dead processes of this server, even if no client reads them.
 *
 * Each process has a log of the tasks that it started, and a lease that it renews. Once per lease, one of the processes
 * searches for processes whose lease has expired.
 */
export class Orphans {
  readonly #init: OrphansInit;
  readonly #id: string = crypto.randomUUID();
  #logCount = 0;
  #joining: Promise<void> | undefined;
  readonly #stopSweeps: () => void;
  #isFailing = false;
  #hasEnded = false;

  /** Starts the renewal of the lease and the search for dead processes. */
  constructor(init: OrphansInit) {
    this.#init = init;
    this.#stopSweeps = repeat(init.clock, init.lease / 3, () => void this.#renewAndSweep());
  }

  /** Logs a task before it starts. Rejects if the store is unavailable; the task must not start then. */
  async log(taskId: string): Promise<void> {
    this.#joining ??= this.#join().catch((error: unknown) => {
      this.#joining = undefined;
      throw error;
    });
    await this.#joining;
    await this.#append(taskId);
    if (++this.#logCount < maxLogged / 2) return;
    for (const running of this.#init.running()) await this.#append(running);
    this.#logCount = 0;
  }

  /** Deletes the lease of this process, so that its tasks are found at the next search. */
  async end(): Promise<void> {
    this.#hasEnded = true;
    this.#stopSweeps();
    if (this.#joining) await this.#init.store.delete(aliveKey(this.#id)).catch(this.#init.report);
  }

  async #append(taskId: string): Promise<void> {
    const { store, maxTtlMs } = this.#init;
    await store.append(startedLog(this.#id), taskId, { ttl: maxTtlMs, maxLength: maxLogged });
  }

  async #join(): Promise<void> {
    const { store, lease } = this.#init;
    await store.set(aliveKey(this.#id), "", { ttl: lease });
    await this.#changeRunners((runners) => (runners.includes(this.#id) ? runners : [...runners, this.#id]));
  }

  async #renewAndSweep(): Promise<void> {
    const { store, lease } = this.#init;
    try {
      if (this.#joining) {
        const isKept = await store.compareAndSet(aliveKey(this.#id), "", "", { ttl: lease });
        // If the lease has expired, another process may have removed this one from the list.
        if (!isKept && !this.#hasEnded) await this.#join();
      }
      // One process sweeps per lease: the first one that sets the key.
      if (await store.compareAndSet(sweepKey, undefined, this.#id, { ttl: lease })) await this.#sweep();
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) this.#init.report(error);
      this.#isFailing = true;
    }
  }

  async #sweep(): Promise<void> {
    const { store } = this.#init;
    const text = await store.get(runnersKey);
    const runners: string[] = text === undefined ? [] : JSON.parse(text);
    const deadRunners = new Set<string>();
    for (const runner of runners) {
      const isAlive = runner === this.#id || (await store.get(aliveKey(runner))) !== undefined;
      if (!isAlive && (await this.#adoptAllOf(runner))) deadRunners.add(runner);
    }
    if (deadRunners.size > 0)
      await this.#changeRunners((runners) => runners.filter((runner) => !deadRunners.has(runner)));
  }

  /** Returns whether all tasks of a dead process are over or run again. */
  async #adoptAllOf(runner: string): Promise<boolean> {
    let isDone = true;
    for await (const { value } of readLog(this.#init.store, startedLog(runner))) {
      isDone = (await this.#init.adopt(value)) && isDone;
    }
    return isDone;
  }

  async #changeRunners(change: (runners: string[]) => string[]): Promise<void> {
    const { store } = this.#init;
    for (;;) {
      const text = await store.get(runnersKey);
      const runners: string[] = text === undefined ? [] : JSON.parse(text);
      const newText = JSON.stringify(change(runners));
      if (await store.compareAndSet(runnersKey, text, newText, { ttl: listTtl })) return;
    }
  }
}
