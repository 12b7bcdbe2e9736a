import type { Clock } from "../../../rpc/clock.ts";
import { reaching } from "../../../store/reaching.ts";
import type { LogEntry, Store } from "../../../store/store.ts";
import type { TaskRecord } from "./record.ts";

/** The most tasks of one caller that a list knows; older ones drop out of it, and are still there by their id. */
const maxListed = 10_000;

const taskKey = (taskId: string): string => `task:${taskId}`;
const leaseKey = (taskId: string): string => `task-lease:${taskId}`;
const ownerKey = (owner: string): string => `tasks-of:${owner}`;

/** The tasks in a store, with the leases that say that somebody is at work on them. */
export class TaskTable {
  readonly store: Store;
  /** When the store failed last, in milliseconds since the epoch. */
  failedAt: number = -Infinity;
  readonly #clock: Clock;

  constructor(store: Store, clock: Clock) {
    this.store = reaching(store, () => {
      this.failedAt = clock.now();
    });
    this.#clock = clock;
  }

  /** Settles when the task can be read by anyone. */
  async create(record: TaskRecord): Promise<void> {
    const { taskId, ttlMs } = record;
    await this.store.set(taskKey(taskId), JSON.stringify(record), { ttl: ttlMs });
  }

  async read(taskId: string): Promise<TaskRecord | undefined> {
    const text = await this.store.get(taskKey(taskId));
    return text === undefined ? undefined : (JSON.parse(text) as TaskRecord);
  }

  /**
   * Changes a task, and tells those who watch it. `change` gives undefined to leave it alone; it may be called again
   * where somebody else was faster. Gives the task as it is then; undefined where there is none any more.
   */
  async update(
    taskId: string,
    change: (record: TaskRecord) => TaskRecord | undefined,
  ): Promise<TaskRecord | undefined> {
    for (;;) {
      const text = await this.store.get(taskKey(taskId));
      if (text === undefined) return undefined;
      const record = JSON.parse(text) as TaskRecord;
      const changed = change(record);
      if (!changed) return record;
      const now = this.#clock.now();
      const next = { ...changed, updatedAt: now };
      const ttl = Math.max(1, next.createdAt + next.ttlMs - now);
      if (await this.store.compareAndSet(taskKey(taskId), text, JSON.stringify(next), { ttl })) {
        await this.store.publish(taskKey(taskId), "changed");
        return next;
      }
    }
  }

  /** Calls `changed` after each change of a task, until the function it gives is called. */
  watch(taskId: string, changed: () => void): Promise<() => Promise<void>> {
    return this.store.subscribe(taskKey(taskId), changed, changed);
  }

  /** Notes that a caller has a task, so that it can be listed. */
  async note(owner: string, taskId: string, ttl: number): Promise<void> {
    await this.store.append(ownerKey(owner), taskId, { ttl, maxLength: maxListed });
  }

  noted(owner: string, after: string | undefined, limit: number): Promise<LogEntry[]> {
    return this.store.readFrom(ownerKey(owner), after, limit);
  }

  /** Takes the lease of a task for a run. Of several that try, one gets it. */
  claim(taskId: string, run: string, lease: number): Promise<boolean> {
    return this.store.compareAndSet(leaseKey(taskId), undefined, run, { ttl: lease });
  }

  /** Keeps the lease. False where another run has it: then this one is over, whatever it is still doing. */
  async renew(taskId: string, run: string, lease: number): Promise<boolean> {
    const isKept = await this.store.compareAndSet(leaseKey(taskId), run, run, { ttl: lease });
    return isKept || this.claim(taskId, run, lease);
  }

  async release(taskId: string, run: string): Promise<void> {
    await this.store.compareAndSet(leaseKey(taskId), run, undefined, { ttl: 1 });
  }

  async isHeld(taskId: string): Promise<boolean> {
    return (await this.store.get(leaseKey(taskId))) !== undefined;
  }
}
