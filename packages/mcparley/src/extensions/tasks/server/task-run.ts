import { settlesWithin } from "../../../rpc/abort.ts";
import type { Clock } from "../../../rpc/clock.ts";
import { LocalError } from "../../../rpc/errors.ts";
import { ErrorCode } from "../../../mcp/errors.ts";
import { Notification } from "../../../mcp/methods.ts";
import type { Progress } from "../../../mcp/progress.ts";
import type { Call } from "../../../server/core/call.ts";
import { isUnavailable } from "../../../store/store-errors.ts";
import { isOver, relatedTask } from "../task.ts";
import { type Ending, type TaskRecord, type TaskTable, endRecord, withProgress } from "./stored-task.ts";
import { TaskInput } from "./task-input.ts";

/** Number of attempts per lease to store a change of a task. */
const triesPerLease = 5;

interface TaskRunInit {
  table: TaskTable;
  clock: Clock;
  taskId: string;
  /** Id of the run. */
  id: string;
  call: Call;
  /** Number of input requests without a key that were sent before the task was created. */
  order: number;
  /** Milliseconds after which the run counts as dead unless it renews its lease. */
  lease: number;
  /** Called with errors that belong to no response. */
  report: (error: unknown) => void;
}

/**
 * One run of a task in this process. Renews the lease, passes input responses to the handler, and stores progress and the
 * outcome.
 *
 * A run is started in three steps: `watch`, then the caller stores that the task has this run, then `start`.
 */
export class TaskRun {
  readonly taskId: string;
  readonly id: string;
  /** Resolves when the run has ended, or was discarded. */
  readonly ending: Promise<void>;
  /** Set by `start`. */
  input!: TaskInput;
  readonly #init: TaskRunInit;
  #record!: TaskRecord;
  #abort: (reason: Error) => void = () => {};
  #resolveOver!: () => void;
  #unwatch: (() => Promise<void>) | undefined;
  #hasStarted = false;
  #hasMissedChange = false;
  #isOver = false;
  #isFailing = false;
  /** The time, by the clock of this process, at which the ttl of the task has passed at the latest. */
  #endsBy = Infinity;
  #timer: unknown;
  /** The outcome of the handler, until it is stored. */
  #outcome: Ending | undefined;
  /** The last progress that the handler reported in this run. */
  #progress: Progress | undefined;
  /** The timer until the next progress may be stored. */
  #progressTimer: unknown;

  constructor(init: TaskRunInit) {
    this.#init = init;
    this.taskId = init.taskId;
    this.id = init.id;
    this.ending = new Promise((resolve) => {
      this.#resolveOver = resolve;
    });
  }

  /** Subscribes to the changes of the task. */
  async watch(): Promise<void> {
    this.#unwatch = await this.#init.table.watch(this.taskId, () => void this.#readChanges());
  }

  /** Starts the run of a stored task. From now on, the input requests and the progress of the call belong to the task. */
  start(record: TaskRecord): void {
    const { call, order, clock } = this.#init;
    this.#record = record;
    // A process that has not created the task does not know when its ttl began. This is the latest time possible.
    this.#endsBy = clock.now() + record.ttlMs;
    this.input = new TaskInput({ call, record, order, update: (change) => this.#persist(change) });
    this.#abort = call.outlive({
      input: this.input,
      progress: (notification) => {
        const { progress, total, message } = notification;
        this.#progress = { progress, ...(total !== undefined && { total }), ...(message !== undefined && { message }) };
        if (this.#progressTimer === undefined) this.#storeProgress(this.#progress);
        this.#sendProgress(notification);
      },
    });
    this.#hasStarted = true;
    this.#renewLater();
    if (this.#hasMissedChange) void this.#readChanges();
  }

  /** Sends progress to the client that requested the task: its token is valid until the task ends (2025-11-25, tasks). */
  #sendProgress(progress: Progress): void {
    const { call, taskId } = this.#init;
    const { progressToken } = call.meta;
    if (this.#isOver || !this.#record.requested || progressToken === undefined) return;
    const _meta = { ...progress._meta, [relatedTask]: { taskId } };
    call.session?.send(Notification.progress, call.encoder.progress({ progressToken, ...progress, _meta }));
  }

  /** The record with which the run was started. */
  get record(): TaskRecord {
    return this.#record;
  }

  /** Stores the outcome of the task, unless it has ended already: a task that was cancelled stays cancelled. */
  async finish(outcome: Ending): Promise<void> {
    if (this.#isOver) return;
    this.#outcome = outcome;
    // A client that polls may not have read the last progress yet.
    const progress = this.#progress;
    await this.#persist((record) => endRecord(progress ? { ...record, progress } : record, outcome));
    await this.#end(new LocalError("closed", "The task has ended."));
  }

  /**
   * Ends the run when its server closes. A task that may run again is left to another process. Any other task fails, unless
   * its handler has ended.
   */
  async stop(): Promise<void> {
    const reason = closingError();
    const outcome = this.#outcome ?? { error: { code: ErrorCode.InternalError, message: reason.message } };
    const mayRunAgain = !this.#outcome && this.#record.again !== undefined;
    const { table } = this.#init;
    await this.#end(reason, () =>
      mayRunAgain ? table.leave(this.taskId, this.id) : this.#update((now) => endRecord(now, outcome)),
    );
  }

  /** Ends a run that was not started. `undo` reverts what was stored for it. */
  async discard(undo?: () => Promise<void>): Promise<void> {
    await this.#end(closingError(), undo);
  }

  /** Changes the task, unless it is over or has another run. */
  async #update(change: (record: TaskRecord) => TaskRecord | undefined): Promise<TaskRecord | undefined> {
    return this.#init.table.update(this.taskId, (record) =>
      record.run === this.id && !isOver(record) ? change(record) : undefined,
    );
  }

  /** Reads the changes of the task: input responses, a cancellation, or its end. */
  async #readChanges(): Promise<void> {
    this.#hasMissedChange = !this.#hasStarted;
    if (!this.#hasStarted || this.#isOver) return;
    const { table, clock } = this.#init;
    try {
      const record = await table.read(this.taskId);
      if (this.#isOver) return;
      if (!record) await this.#end(expiryError(), () => table.notify(this.taskId));
      else if (record.status === "cancelled") await this.#end(new LocalError("aborted", "The task was cancelled."));
      else if (isOver(record) || record.run !== this.id) await this.#end(takeoverError());
      else this.input.receive(record);
    } catch (error) {
      this.#reportOnce(error);
      if (clock.now() >= this.#endsBy) await this.#end(expiryError());
    }
  }

  #renewLater(): void {
    const { clock, lease, table } = this.#init;
    const remainingTime = this.#endsBy - clock.now();
    // The store sends no message when the ttl has passed, so the task is read at that time. A later run of a short task
    // reads it more often, because it knows only the latest possible time.
    const interval = Math.min(lease / 3, this.#record.ttlMs / 4);
    this.#timer = clock.setTimeout(
      () => {
        this.#renewLater();
        table.renew(this.taskId, this.id, lease).then(
          (isKept) => {
            this.#isFailing = false;
            return isKept ? this.#readChanges() : this.#end(takeoverError());
          },
          (error: unknown) => {
            this.#reportOnce(error);
            return this.#readChanges();
          },
        );
      },
      remainingTime > 0 ? Math.min(interval, remainingTime) : interval,
    );
  }

  /** Stores progress, also as the status message of the task, at most once per poll interval. */
  #storeProgress(storedProgress: Progress): void {
    if (this.#isOver) return;
    const { clock, report } = this.#init;
    const { progress, total, message } = storedProgress;
    const statusMessage = message ?? (total === undefined ? `${progress}` : `${progress}/${total}`);
    this.#update((now) => withProgress(now, storedProgress, statusMessage)).catch(report);
    this.#progressTimer = clock.setTimeout(() => {
      this.#progressTimer = undefined;
      if (this.#progress && this.#progress !== storedProgress) this.#storeProgress(this.#progress);
    }, this.#record.pollIntervalMs);
  }

  /** Changes the task. If the store is unavailable, tries again until the run ends. */
  async #persist(change: (record: TaskRecord) => TaskRecord | undefined): Promise<void> {
    const { clock, lease } = this.#init;
    while (!this.#isOver) {
      try {
        await this.#update(change);
        this.#isFailing = false;
        return;
      } catch (error) {
        if (!isUnavailable(error)) throw error;
        this.#reportOnce(error);
      }
      await settlesWithin(this.ending, lease / triesPerLease, clock);
    }
  }

  /** Reports the first of several failures in a row. */
  #reportOnce(error: unknown): void {
    if (!this.#isFailing) this.#init.report(error);
    this.#isFailing = true;
  }

  /** Ends the run. `last` is the last change of the task. The lease is released after it. */
  async #end(reason: Error, last: () => Promise<unknown> = async () => {}): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    const { clock, table } = this.#init;
    if (this.#timer !== undefined) clock.clearTimeout(this.#timer);
    if (this.#progressTimer !== undefined) clock.clearTimeout(this.#progressTimer);
    this.#resolveOver();
    this.#abort(reason);
    if (this.#hasStarted) this.input.end(reason);
    for (const step of [last, async () => this.#unwatch?.(), () => table.release(this.taskId, this.id)]) {
      await step().catch((error: unknown) => this.#reportOnce(error));
    }
  }
}

function closingError(): LocalError {
  return new LocalError("closed", "The server was stopped before the task ended.");
}

function expiryError(): LocalError {
  return new LocalError("aborted", "The ttl of the task has passed.");
}

function takeoverError(): LocalError {
  return new LocalError(
    "aborted",
    "This process did not renew its lease in time, and another process took over the task.",
  );
}
