import type { Clock } from "../../../rpc/clock.ts";
import { LocalError } from "../../../rpc/errors.ts";
import type { JsonRpcErrorBody } from "../../../rpc/messages.ts";
import type { Call } from "../../../server/dispatch/call.ts";
import { isOver } from "../task.ts";
import { type Ending, type TaskRecord, ended } from "./record.ts";
import { TaskChannel } from "./task-asking.ts";
import type { TaskTable } from "./task-table.ts";

/** How often, in the time of a lease, it is tried to write down how a task ended. */
const triesPerLease = 5;

export interface TaskRunInit {
  table: TaskTable;
  clock: Clock;
  record: TaskRecord;
  call: Call;
  /** How many questions without a key were asked before the task began. */
  order: number;
  /** Milliseconds after which the run counts as dead unless it says that it lives. */
  lease: number;
  /** Told of what went wrong and belongs to no answer. */
  report: (error: unknown) => void;
  /** Called once it is over. */
  over: () => void;
}

/**
 * One run of a task in this process: keeps its lease, hands its questions to the client and the answers to its handler,
 * and writes down how it ended.
 */
export class TaskRun {
  readonly taskId: string;
  readonly input: TaskChannel;
  readonly #init: TaskRunInit;
  readonly #abort: (reason: Error) => void;
  #timer: unknown;
  #unwatch: (() => Promise<void>) | undefined;
  #isOver = false;
  /** What was reported last, and until when nothing more is written of it. */
  #message: string | undefined;
  #saying: unknown;

  constructor(init: TaskRunInit) {
    const { call, record, order } = init;
    this.#init = init;
    this.taskId = record.taskId;
    this.input = new TaskChannel({ call, record, order, update: (change) => this.#update(change) });
    this.#abort = call.outlive({
      input: this.input,
      progress: (done, total, message) => this.#say(message ?? (total === undefined ? `${done}` : `${done}/${total}`)),
    });
  }

  /** Begins to hear of what happens to the task elsewhere. */
  async start(): Promise<void> {
    this.#unwatch = await this.#init.table.watch(this.taskId, () => void this.#look());
    this.#beat();
    await this.#look();
  }

  /** Writes down how the task ended, unless it has ended already: a task that was cancelled stays cancelled. */
  async finish(outcome: Ending): Promise<void> {
    if (this.#isOver) return;
    for (let tries = 1; ; tries++) {
      try {
        await this.#update((record) => ended(record, outcome));
        break;
      } catch (error) {
        if (tries === 1) this.#init.report(error);
        // It is tried for as long as the task is kept, since whoever was told of the task counts on what becomes of it.
        const { clock, lease, record } = this.#init;
        if (this.#isOver || clock.now() >= record.createdAt + record.ttlMs) break;
        await new Promise<void>((resolve) => clock.setTimeout(resolve, lease / triesPerLease));
      }
    }
    await this.#end(new LocalError("closed", "The task has ended."));
  }

  /** Gives the run up because its server is closed. One that may run again is left for the next process to take up. */
  async stop(): Promise<void> {
    const why = "The server was stopped before the task ended.";
    const canRunAgain = this.#init.record.again !== undefined;
    await this.#end(new LocalError("closed", why), !canRunAgain && { code: -32603, message: why });
  }

  /** Changes the task as long as it is this run's to change. */
  async #update(change: (record: TaskRecord) => TaskRecord | undefined): Promise<TaskRecord | undefined> {
    const { table, record: mine } = this.#init;
    return table.update(this.taskId, (record) =>
      record.run === mine.run && !isOver(record) ? change(record) : undefined,
    );
  }

  /** Looks at what became of the task: answers, a cancellation, or its end. */
  async #look(): Promise<void> {
    try {
      const record = await this.#init.table.read(this.taskId);
      if (this.#isOver) return;
      if (!record) await this.#end(new LocalError("aborted", "The task has outlived its ttl."));
      else if (isOver(record)) await this.#end(new LocalError("aborted", "The task was cancelled."));
      else if (record.run !== this.#init.record.run) await this.#end(takenOver());
      else this.input.answered(record);
    } catch (error) {
      this.#init.report(error);
    }
  }

  #beat(): void {
    const { clock, lease, table, record, report } = this.#init;
    this.#timer = clock.setTimeout(() => {
      if (this.#isOver) return;
      this.#beat();
      table.renew(this.taskId, record.run, lease).then((kept) => {
        if (kept) return this.#look();
        return this.#end(takenOver());
      }, report);
    }, lease / 3);
  }

  /** Shows progress as the task's status message, no more often than anyone is to look. */
  #say(message: string): void {
    this.#message = message;
    if (this.#saying !== undefined || this.#isOver) return;
    const { clock, record, report } = this.#init;
    this.#update((now) => ({ ...now, statusMessage: message })).catch(report);
    this.#saying = clock.setTimeout(() => {
      this.#saying = undefined;
      if (this.#message !== undefined && this.#message !== message) this.#say(this.#message);
    }, record.pollIntervalMs);
  }

  async #end(reason: Error, failure?: JsonRpcErrorBody | false): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    const { clock, table, record, over, report } = this.#init;
    clock.clearTimeout(this.#timer);
    if (this.#saying !== undefined) clock.clearTimeout(this.#saying);
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
  return new LocalError("aborted", "This process was silent for so long that another one took the task over.");
}
