import type { Clock } from "../../../rpc/clock.ts";
import { LocalError } from "../../../rpc/errors.ts";
import type { JsonRpcErrorBody } from "../../../rpc/messages.ts";
import type { Call } from "../../../server/dispatch/call.ts";
import { isOver } from "../task.ts";
import { type Ending, type TaskRecord, type TaskTable, ended } from "./stored-task.ts";
import { TaskInput } from "./task-input.ts";

/** Number of attempts per lease to store the outcome of a task. */
const triesPerLease = 5;

export interface TaskRunInit {
  table: TaskTable;
  clock: Clock;
  record: TaskRecord;
  call: Call;
  /** Number of input requests without a key that were sent before the task was created. */
  order: number;
  /** Milliseconds after which the run counts as dead unless it renews its lease. */
  lease: number;
  /** Called with errors that belong to no response. */
  report: (error: unknown) => void;
  /** Called when the run has ended. */
  over: () => void;
}

/**
 * One run of a task in this process. Renews the lease, passes input responses to the handler, and stores progress and the
 * outcome.
 */
export class TaskRun {
  readonly taskId: string;
  readonly input: TaskInput;
  readonly #init: TaskRunInit;
  readonly #abort: (reason: Error) => void;
  #timer: unknown;
  #unwatch: (() => Promise<void>) | undefined;
  #isOver = false;
  /** The last reported progress. */
  #message: string | undefined;
  /** The timer until the next status message may be stored. */
  #messageTimer: unknown;

  constructor(init: TaskRunInit) {
    const { call, record, order } = init;
    this.#init = init;
    this.taskId = record.taskId;
    this.input = new TaskInput({ call, record, order, update: (change) => this.#update(change) });
    this.#abort = call.outlive({
      input: this.input,
      progress: (done, total, message) =>
        this.#setMessage(message ?? (total === undefined ? `${done}` : `${done}/${total}`)),
    });
  }

  /** Starts to renew the lease, and to read changes that other processes make. */
  async start(): Promise<void> {
    this.#unwatch = await this.#init.table.watch(this.taskId, () => void this.#readChanges());
    this.#renewLater();
    await this.#readChanges();
  }

  /** Stores the outcome of the task, unless it has ended already: a task that was cancelled stays cancelled. */
  async finish(outcome: Ending): Promise<void> {
    if (this.#isOver) return;
    for (let tries = 1; ; tries++) {
      try {
        await this.#update((record) => ended(record, outcome));
        break;
      } catch (error) {
        if (tries === 1) this.#init.report(error);
        // Clients poll for the outcome, so it is retried until the ttl of the task has passed.
        const { clock, lease, record } = this.#init;
        if (this.#isOver || clock.now() >= record.createdAt + record.ttlMs) break;
        await new Promise<void>((resolve) => clock.setTimeout(resolve, lease / triesPerLease));
      }
    }
    await this.#end(new LocalError("closed", "The task has ended."));
  }

  /** Ends the run when its server closes. The task fails, unless it may run again in another process. */
  async stop(): Promise<void> {
    const why = "The server was stopped before the task ended.";
    const canRunAgain = this.#init.record.again !== undefined;
    await this.#end(new LocalError("closed", why), !canRunAgain && { code: -32603, message: why });
  }

  /** Changes the task, unless it is over or has another run. */
  async #update(change: (record: TaskRecord) => TaskRecord | undefined): Promise<TaskRecord | undefined> {
    const { table, record: mine } = this.#init;
    return table.update(this.taskId, (record) =>
      record.run === mine.run && !isOver(record) ? change(record) : undefined,
    );
  }

  /** Reads the changes of the task: input responses, a cancellation, or its end. */
  async #readChanges(): Promise<void> {
    try {
      const record = await this.#init.table.read(this.taskId);
      if (this.#isOver) return;
      if (!record) await this.#end(new LocalError("aborted", "The ttl of the task has passed."));
      else if (isOver(record)) await this.#end(new LocalError("aborted", "The task was cancelled."));
      else if (record.run !== this.#init.record.run) await this.#end(takenOver());
      else this.input.receive(record);
    } catch (error) {
      this.#init.report(error);
    }
  }

  #renewLater(): void {
    const { clock, lease, table, record, report } = this.#init;
    this.#timer = clock.setTimeout(() => {
      if (this.#isOver) return;
      this.#renewLater();
      table.renew(this.taskId, record.run, lease).then((isKept) => {
        if (isKept) return this.#readChanges();
        return this.#end(takenOver());
      }, report);
    }, lease / 3);
  }

  /** Stores progress as the status message of the task, at most once per poll interval. */
  #setMessage(message: string): void {
    this.#message = message;
    if (this.#messageTimer !== undefined || this.#isOver) return;
    const { clock, record, report } = this.#init;
    this.#update((now) => ({ ...now, statusMessage: message })).catch(report);
    this.#messageTimer = clock.setTimeout(() => {
      this.#messageTimer = undefined;
      if (this.#message !== undefined && this.#message !== message) this.#setMessage(this.#message);
    }, record.pollIntervalMs);
  }

  async #end(reason: Error, failure?: JsonRpcErrorBody | false): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    const { clock, table, record, over, report } = this.#init;
    clock.clearTimeout(this.#timer);
    if (this.#messageTimer !== undefined) clock.clearTimeout(this.#messageTimer);
    over();
    this.#abort(reason);
    this.input.end(reason);
    try {
      if (failure) await this.#update((now) => ended(now, { error: failure }));
      await this.#unwatch?.();
      await table.release(this.taskId, record.run);
    } catch (error) {
      report(error);
    }
  }
}

function takenOver(): LocalError {
  return new LocalError("aborted", "This process did not renew its lease in time, and another one took the task over.");
}
