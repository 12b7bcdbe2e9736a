import { ErrorCode } from "../../../mcp/errors.ts";
import { ProtocolError } from "../../../rpc/errors.ts";
import { type JsonObject, Prepared } from "../../../rpc/messages.ts";
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
import type { TaskDefaults, TaskTiming } from "./settings.ts";
import { type StoredRequest, type TaskRecord, TaskTable, ended } from "./stored-task.ts";
import { TaskRun } from "./task-run.ts";

/** Maximum number of runs of a task whose processes die, because the task itself may be the cause. */
const maxRuns = 3;

/** The settings of a new task. */
interface NewTask extends TaskTiming {
  runAgain?: boolean;
  /** Whether the client requested the task, as clients of 2025-11-25 do. */
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
  /** The calls that were made from stored requests. They are tasks already. */
  readonly #reruns = new WeakSet<Call>();

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

  /** Returns whether a call is a later run of a task. */
  isRerun(call: Call): boolean {
    return this.#reruns.has(call);
  }

  /** Creates the task of a call and starts its run. When the promise resolves, every process can read the task. */
  async begin(call: Call, settings: NewTask): Promise<{ record: TaskRecord; run: TaskRun }> {
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
      ttlMs: Math.min(settings.ttlMs ?? ttlMs, maxTtlMs),
      pollIntervalMs: settings.pollIntervalMs ?? pollIntervalMs,
      requested: settings.requested,
      run: crypto.randomUUID(),
      runs: 1,
      inputRequests: [],
      responses: answers,
      once,
    };
    if (settings.runAgain) record.again = toStoredRequest(call);
    const { taskId } = record;
    await this.#orphans.note(taskId);
    await this.table.claim(taskId, record.run, lease);
    await this.table.create(record);
    // The list of anonymous callers would show each of them the tasks of all others.
    if (owner !== "" || this.defaults.listForAnyone) await this.table.addToList(owner, taskId, maxTtlMs);
    return { record, run: await this.#start(call, record, order) };
  }

  /** Returns the current state of a task. If its process has died, runs it again if that is allowed, and fails it otherwise. */
  async revived(record: TaskRecord): Promise<TaskRecord> {
    const { taskId } = record;
    if (isOver(record) || this.#runs.has(taskId) || (await this.table.isHeld(taskId))) return record;
    // Leases also expire while the store is unavailable. Give the living processes time to renew theirs.
    if (this.core.clock.now() - this.table.failedAt < this.defaults.lease / 2) return record;
    const run = crypto.randomUUID();
    const { lease } = this.defaults;
    if (!(await this.table.claim(taskId, run, lease))) return (await this.table.read(taskId)) ?? record;
    const now = await this.table.update(taskId, (found) => {
      if (isOver(found) || found.run !== record.run) return undefined;
      const { again, runs } = found;
      return again && runs < maxRuns ? { ...found, run, runs: runs + 1 } : ended(found, { error: died(found) });
    });
    if (now?.run === run && !isOver(now) && now.again) await this.#runAgain(now, now.again);
    else await this.table.release(taskId, run);
    return now ?? record;
  }

  /** Stores the outcome of a task when its handler ends. */
  async finish(call: Call, run: TaskRun, ending: Promise<JsonObject>): Promise<void> {
    try {
      const result = await ending;
      // Throws for a result that is not JSON, so that the task fails with this error.
      JSON.stringify(result);
      await run.finish({ result });
    } catch (error) {
      const wasCancelled = call.signal.aborted && !(error instanceof ProtocolError);
      await run.finish(
        wasCancelled ? { cancelled: "The request was cancelled." } : { error: toProtocolError(error, call).toBody() },
      );
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#runs.values()].map((run) => run.stop()));
    await this.#orphans.end();
  }

  /** Takes over a task of a dead process. Returns whether the task is over or runs here. */
  async #adopt(taskId: string): Promise<boolean> {
    const record = await this.table.read(taskId);
    if (!record || isOver(record) || this.#runs.has(taskId)) return true;
    // Another process may have capacity, or this one later.
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

  async #runAgain(record: TaskRecord, { method, params, peer, principal }: StoredRequest): Promise<void> {
    const { core } = this;
    const call = new Call({
      core,
      // Tasks are stored as the latest revision encodes them, and encoded again for the revision of each reader.
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
    this.#reruns.add(call);
    await this.#orphans.note(record.taskId);
    const run = await this.#start(call, record, 0);
    void this.finish(call, run, dispatchUnprepared(call));
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

/** Returns the parts of a call that are needed to run it again, without the params of its input requests and its task. */
function toStoredRequest({ method, params, peer: { address: _address, ...peer }, principal }: Call): StoredRequest {
  const { requestState: _, inputResponses: __, task: ___, ...kept } = params;
  return { method, params: kept, peer, ...(principal && { principal }) };
}

async function dispatchUnprepared(call: Call): Promise<JsonObject> {
  const result = await dispatch(call);
  return result instanceof Prepared ? result.value : result;
}

function died({ again }: TaskRecord): { code: number; message: string } {
  const message = again
    ? `The process that ran this task ended before it did, in all of ${maxRuns} runs.`
    : "The process that ran this task ended before it did. It is unknown what it had done until then.";
  return { code: ErrorCode.InternalError, message };
}
