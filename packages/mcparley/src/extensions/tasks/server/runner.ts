import { ErrorCode } from "../../../mcp/errors.ts";
import { ProtocolError } from "../../../rpc/errors.ts";
import type { JsonObject } from "../../../rpc/messages.ts";
import { modernEncoderOf, latestModern } from "../../../mcp/revisions/index.ts";
import { dispatch } from "../../../server/dispatch/dispatch.ts";
import { toProtocolError } from "../../../server/dispatch/reply.ts";
import { Call } from "../../../server/dispatch/call.ts";
import { principalKey } from "../../../server/dispatch/context.ts";
import type { ServerCore } from "../../../server/core.ts";
import { storeOf } from "../../../server/store-of.ts";
import { memoryStore } from "../../../store/memory-store.ts";
import { isOver } from "../task.ts";
import { Orphans } from "./orphans.ts";
import { type KeptRequest, type TaskRecord, ended } from "./record.ts";
import type { TaskDefaults, TaskTiming } from "./settings.ts";
import { TaskRun } from "./task-run.ts";
import { TaskTable } from "./task-table.ts";

/** So often a task is begun anew whose processes keep dying, lest it be what kills them. */
const maxRuns = 3;

/** What a call asks of the task that it becomes. */
export interface Wanted extends TaskTiming {
  runAgain?: boolean;
  /** The client asked for the task, as those of 2025-11-25 do. */
  requested: boolean;
}

/** The tasks that run in this process for one server. */
export class Runner {
  readonly table: TaskTable;
  readonly core: ServerCore;
  readonly defaults: TaskDefaults;
  readonly #runs = new Map<string, TaskRun>();
  readonly #orphans: Orphans;
  readonly #perOwner = new Map<string, number>();
  /** The calls that were made of kept requests, which are tasks already. */
  readonly #again = new WeakSet<Call>();

  constructor(core: ServerCore, defaults: TaskDefaults) {
    this.core = core;
    this.defaults = defaults;
    this.table = new TaskTable(storeOf(core) ?? memoryStore({ clock: core.clock }), core.clock);
    this.#orphans = new Orphans({
      store: this.table.store,
      clock: core.clock,
      lease: defaults.lease,
      maxTtlMs: defaults.maxTtlMs,
      running: () => this.#runs.keys(),
      adopt: (taskId) => this.#adopt(taskId),
      report: (error) => core.report(error, undefined),
    });
    this.#orphans.watch();
  }

  get running(): number {
    return this.#runs.size;
  }

  /** Whether a call is a run of a task from its beginning. */
  isRunAgain(call: Call): boolean {
    return this.#again.has(call);
  }

  /** Makes a task of a call. It can be found by anyone once this settles. */
  async begin(call: Call, wanted: Wanted): Promise<{ record: TaskRecord; run: TaskRun }> {
    const owner = principalKey(call.principal);
    this.#checkRoom(owner);
    const { answers, once, order } = (await call.startedInput)?.recorded() ?? { answers: [], once: [], order: 0 };
    const now = this.core.clock.now();
    const { ttlMs, pollIntervalMs, maxTtlMs, lease } = this.defaults;
    const record: TaskRecord = {
      taskId: crypto.randomUUID(),
      owner,
      status: "working",
      createdAt: now,
      updatedAt: now,
      ttlMs: Math.min(wanted.ttlMs ?? ttlMs, maxTtlMs),
      pollIntervalMs: wanted.pollIntervalMs ?? pollIntervalMs,
      requested: wanted.requested,
      run: crypto.randomUUID(),
      runs: 1,
      questions: [],
      answers,
      once,
    };
    if (wanted.runAgain) record.again = keep(call);
    const { taskId } = record;
    await this.#orphans.note(taskId);
    await this.table.claim(taskId, record.run, lease);
    await this.table.create(record);
    // Whoever is known by nothing could list what belongs to others.
    if (owner !== "" || this.defaults.listForAnyone) await this.table.note(owner, taskId, maxTtlMs);
    return { record, run: await this.#start(call, record, order) };
  }

  /**
   * Gives a task as it is. One whose process has died is run again where it may be, and has failed where it may not.
   */
  async revived(record: TaskRecord): Promise<TaskRecord> {
    const { taskId } = record;
    if (isOver(record) || this.#runs.has(taskId) || (await this.table.isHeld(taskId))) return record;
    // Leases run out too where nobody could renew them: then those who live have the time to take theirs again.
    if (this.core.clock.now() - this.table.failedAt < this.defaults.lease / 2) return record;
    const run = crypto.randomUUID();
    const { lease } = this.defaults;
    if (!(await this.table.claim(taskId, run, lease))) return (await this.table.read(taskId)) ?? record;
    const now = await this.table.update(taskId, (found) => {
      if (isOver(found) || found.run !== record.run) return undefined;
      const { again, runs } = found;
      return again && runs < maxRuns ? { ...found, run, runs: runs + 1 } : ended(found, { error: died(found) });
    });
    if (now?.run === run && !isOver(now)) await this.#runAgain(now);
    else await this.table.release(taskId, run);
    return now ?? record;
  }

  /** Writes down how the handler of a task ended. */
  async finish(call: Call, run: TaskRun, ending: Promise<JsonObject>): Promise<void> {
    try {
      const result = await ending;
      // What JSON cannot say must fail here, where it can be said that it did.
      JSON.stringify(result);
      await run.finish({ result });
    } catch (error) {
      const wasGivenUp = call.signal.aborted && !(error instanceof ProtocolError);
      await run.finish(
        wasGivenUp ? { cancelled: "The request was cancelled." } : { error: toProtocolError(error, call).toBody() },
      );
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#runs.values()].map((run) => run.stop()));
    await this.#orphans.end();
  }

  /** Looks after a task of a process that died. Gives whether it is over, or runs here. */
  async #adopt(taskId: string): Promise<boolean> {
    const record = await this.table.read(taskId);
    if (!record || isOver(record) || this.#runs.has(taskId)) return true;
    // Others have room for it, or this process has later.
    if (this.#runs.size >= this.defaults.maxRunning) return false;
    return isOver(await this.revived(record)) || this.#runs.has(taskId);
  }

  async #start(call: Call, record: TaskRecord, order: number): Promise<TaskRun> {
    const { core, table } = this;
    const { owner, taskId } = record;
    const run = new TaskRun({
      table,
      clock: core.clock,
      record,
      call,
      order,
      lease: this.defaults.lease,
      report: (error) => core.report(error, call),
      over: () => {
        this.#runs.delete(taskId);
        this.#count(owner, -1);
      },
    });
    this.#runs.set(taskId, run);
    this.#count(owner, 1);
    await run.start();
    return run;
  }

  async #runAgain(record: TaskRecord): Promise<void> {
    const { core } = this;
    const { method, params, peer, principal } = record.again as KeptRequest;
    const call = new Call({
      core,
      // What it says and is told is said in the words of whoever looks at the task.
      revision: latestModern,
      encoder: modernEncoderOf(latestModern),
      id: record.taskId,
      method,
      params,
      peer,
      principal,
      link: { send: () => {} },
      logLevel: undefined,
      session: undefined,
    });
    this.#again.add(call);
    await this.#orphans.note(record.taskId);
    const run = await this.#start(call, record, 0);
    const dispatched = (async () => (await dispatch(call)) as JsonObject)();
    void this.finish(call, run, dispatched);
  }

  #checkRoom(owner: string): void {
    const { maxRunning, maxRunningPerCaller } = this.defaults;
    const ofOwner = owner === "" ? 0 : (this.#perOwner.get(owner) ?? 0);
    if (this.#runs.size < maxRunning && ofOwner < maxRunningPerCaller) return;
    const message = "Too many tasks are running. Wait for some of them to end, or cancel them.";
    throw new ProtocolError(ErrorCode.InternalError, message, { status: 503 });
  }

  #count(owner: string, change: number): void {
    const count = (this.#perOwner.get(owner) ?? 0) + change;
    if (count > 0) this.#perOwner.set(owner, count);
    else this.#perOwner.delete(owner);
  }
}

/** What it takes to make a call again, without what belonged to its rounds of questions. */
function keep({ method, params, peer: { address: _address, ...peer }, principal }: Call): KeptRequest {
  const { requestState: _, inputResponses: __, task: ___, ...kept } = params;
  return { method, params: kept, peer, ...(principal && { principal }) };
}

function died({ again }: TaskRecord): { code: number; message: string } {
  const message = again
    ? `The process that ran this task ended before it did, ${maxRuns} times over.`
    : "The process that ran this task ended before it did. What it had done until then is not known.";
  return { code: ErrorCode.InternalError, message };
}
