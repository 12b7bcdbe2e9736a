import type { Clock } from "../../../rpc/clock.ts";
import { reaching } from "../../../store/reaching.ts";
import type { LogEntry, Store } from "../../../store/store.ts";
import type { TaskRecord } from "./record.ts";

/** Maximum number of tasks in the list of one caller. Older ones drop out of the list, and can still be read by id. */
const maxListed = 10_000;

const taskKey = (taskId: string): string => `task:${taskId}`;
const leaseKey = (taskId: string): string => `task-lease:${taskId}`;
const ownerKey = (owner: string): string => `tasks-of:${owner}`;

/** The tasks in the store, with a lease for each task that a process works on. */
export class TaskTable {
  readonly store: Store;
  /** Time of the store's last failure, in milliseconds since the epoch. */
  failedAt: number = -Infinity;
  readonly #clock: Clock;

  constructor(store: Store, clock: Clock) {
    this.store = reaching(store, () => {
      this.failedAt = clock.now();
    });
    this.#clock = clock;
  }

  /** Resolves when every process can read the task. */
  async create(record: TaskRecord): Promise<void> {
    const { taskId, ttlMs } = record;
    await this.store.set(taskKey(taskId), JSON.stringify(record), { ttl: ttlMs });
  }

  async read(taskId: string): Promise<TaskRecord | undefined> {
    const text = await this.store.get(taskKey(taskId));
    return text === undefined ? undefined : (JSON.parse(text) as TaskRecord);
  }

  /**
   * Changes a task and notifies its watchers. `change` returns undefined to leave the task as it is, and is called again if
   * another process changed the task meanwhile. Returns the task; undefined if it does not exist any more.
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

  /** Calls `changed` after each change of a task, until the returned function is called. */
  watch(taskId: string, changed: () => void): Promise<() => Promise<void>> {
    return this.store.subscribe(taskKey(taskId), changed, changed);
  }

  /** Adds a task to the list of its caller. */
  async note(owner: string, taskId: string, ttl: number): Promise<void> {
    await this.store.append(ownerKey(owner), taskId, { ttl, maxLength: maxListed });
  }

  noted(owner: string, after: string | undefined, limit: number): Promise<LogEntry[]> {
    return this.store.readFrom(ownerKey(owner), after, limit);
  }

  /** Takes the lease of a task for a run. Of several concurrent calls, one succeeds. */
  claim(taskId: string, run: string, lease: number): Promise<boolean> {
    return this.store.compareAndSet(leaseKey(taskId), undefined, run, { ttl: lease });
  }

  /** Renews the lease. Returns false if another run has it, which ends this one. */
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
