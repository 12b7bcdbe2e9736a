import { ErrorCode } from "../../../mcp/errors.ts";
import { ProtocolError } from "../../../rpc/errors.ts";
import { type JsonObject, Prepared } from "../../../rpc/messages.ts";
import { modernEncoderOf, latestModern } from "../../../mcp/revisions/index.ts";
import { dispatch } from "../../../server/dispatch/dispatch.ts";
import { toProtocolError } from "../../../server/dispatch/reply.ts";
import type { Call } from "../../../server/core/call.ts";
import { OpenCall } from "../../../server/dispatch/open-call.ts";
import { principalKey } from "../../../server/core/context.ts";
import { revivePrincipal } from "../../../server/core/principal.ts";
import { makeId } from "../../../server/core/local-id.ts";
import type { ServerCore } from "../../../server/core/server-core.ts";
import { storeOf } from "../../../server/core/store-of.ts";
import { memoryStore } from "../../../store/memory-store.ts";
import { isOver } from "../task.ts";
import { Orphans } from "./orphans.ts";
import type { TaskDefaults, TaskTiming } from "./settings.ts";
import { TaskSlots } from "./slots.ts";
import { type StoredRequest, type TaskRecord, TaskTable, endRecord } from "./stored-task.ts";
import { TaskRun } from "./task-run.ts";

/** Maximum number of crashes of a task while its handler works, because the task itself may be the cause. */
const maxCrashes = 3;

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
  /** Reports an error that belongs to no call. */
  readonly report = (error: unknown): void => this.core.report(error, undefined);
  readonly defaults: TaskDefaults;
  readonly #slots: TaskSlots;
  readonly #orphans: Orphans;
  /** The calls that were made from stored requests. They are tasks already. */
  readonly #reruns = new WeakSet<Call>();

  constructor(core: ServerCore, defaults: TaskDefaults) {
    this.core = core;
    this.defaults = defaults;
    this.table = new TaskTable(storeOf(core) ?? memoryStore({ clock: core.clock }), core.clock, this.report);
    this.#slots = new TaskSlots(defaults);
    this.#orphans = new Orphans({
      store: this.table.store,
      clock: core.clock,
      lease: defaults.lease,
      maxTtlMs: defaults.maxTtlMs,
      running: () => this.#slots.taskIds(),
      adopt: (taskId) => this.#adopt(taskId),
      report: this.report,
    });
  }

  /** Returns whether a call is a later run of a task. */
  isRerun(call: Call): boolean {
    return this.#reruns.has(call);
  }

  /**
   * Creates the task of a call and starts its run. When the promise resolves, every process can read the task. If it rejects,
   * there is no task.
   */
  async begin(call: Call, settings: NewTask): Promise<TaskRun> {
    const taskId = makeId(this.core);
    const owner = principalKey(call.principal);
    this.#slots.requireOpen();
    this.#slots.requireFree(owner);
    return this.#slots.occupy({ taskId, owner }, async () => {
      const { answers, once, order } = (await call.startedInput)?.recorded() ?? { answers: [], once: [], order: 0 };
      const run = this.#makeRun(taskId, call, order);
      const now = this.core.clock.now();
      const { ttlMs, pollIntervalMs, maxTtlMs } = this.defaults;
      const record: TaskRecord = {
        taskId,
        owner,
        status: "working",
        createdAt: now,
        updatedAt: now,
        ttlMs: Math.min(settings.ttlMs ?? ttlMs, maxTtlMs),
        pollIntervalMs: settings.pollIntervalMs ?? pollIntervalMs,
        requested: settings.requested,
        run: run.id,
        crashes: 0,
        inputRequests: [],
        responses: answers,
        once,
      };
      if (settings.runAgain) record.again = toStoredRequest(call);
      await this.#store(record, run);
      run.start(record);
      return run;
    });
  }

  /** Returns the current state of a task. If its process has died, runs it again if that is allowed, and fails it otherwise. */
  async revive(record: TaskRecord): Promise<TaskRecord> {
    const { taskId, owner, again } = record;
    if (isOver(record) || this.#slots.has(taskId) || (await this.table.isHeld(taskId))) return record;
    // Leases also expire while the store is unavailable. Give the living processes time to renew theirs.
    if (this.core.clock.now() - this.table.failedAt < this.defaults.lease / 2) return record;
    if (!again || crashesOf(record) >= maxCrashes) return this.#fail(record);
    // Without a free slot the task waits: another process may have one, or this one later.
    const { isClosed } = this.#slots;
    if (isClosed || this.#slots.has(taskId) || !this.#slots.hasFree(owner)) return record;
    await this.#slots.occupy({ taskId, owner }, () => this.#runAgain(record, again));
    return (await this.table.read(taskId)) ?? record;
  }

  /** Stores the outcome of a task when its handler ends. */
  finish(call: Call, run: TaskRun, ending: Promise<JsonObject>): void {
    call.waitUntil(this.#finish(call, run, ending));
  }

  async close(): Promise<void> {
    await this.#slots.close();
    await this.#orphans.end();
  }

  async #finish(call: Call, run: TaskRun, ending: Promise<JsonObject>): Promise<void> {
    try {
      const result = await ending;
      // Throws for a result that is not JSON, so that the task fails with this error.
      JSON.stringify(result);
      await run.finish({ result });
    } catch (error) {
      const wasCancelled = call.signal.aborted && !(error instanceof ProtocolError);
      await run.finish(
        wasCancelled
          ? { cancellation: "The request was cancelled." }
          : { error: toProtocolError(error, call).toBody() },
      );
    }
  }

  #makeRun(taskId: string, call: Call, order: number): TaskRun {
    const { core, table } = this;
    const { lease } = this.defaults;
    const report = (error: unknown): void => core.report(error, call);
    return new TaskRun({ table, clock: core.clock, taskId, id: crypto.randomUUID(), call, order, lease, report });
  }

  /** Stores a new task. The record is the last part, so that no failed step leaves a task without a run. */
  async #store(record: TaskRecord, run: TaskRun): Promise<void> {
    const { taskId, owner } = record;
    const { maxTtlMs, lease, listForAnyone } = this.defaults;
    await this.#orphans.log(taskId);
    try {
      await this.table.claim(taskId, run.id, lease);
      // The list of anonymous callers would show each of them the tasks of all others.
      if (owner !== "" || listForAnyone) await this.table.addToList(owner, taskId, maxTtlMs);
      await run.watch();
      await this.table.create(record);
      this.#slots.requireOpen();
    } catch (error) {
      // The store may have done the step that failed.
      await run.discard(() => this.table.remove(taskId));
      throw error;
    }
  }

  /** Takes over a task of a dead process. Returns whether the task is over or runs here. */
  async #adopt(taskId: string): Promise<boolean> {
    const record = await this.table.read(taskId);
    if (!record || isOver(record) || this.#slots.has(taskId)) return true;
    return isOver(await this.revive(record)) || this.#slots.has(taskId);
  }

  /** Fails a task whose process has died. */
  async #fail(record: TaskRecord): Promise<TaskRecord> {
    const { table } = this;
    const { taskId } = record;
    const id = crypto.randomUUID();
    if (!(await table.claim(taskId, id, this.defaults.lease))) return (await table.read(taskId)) ?? record;
    try {
      const failedRecord = await table.update(taskId, (current) =>
        isOver(current) || current.run !== record.run ? undefined : endRecord(current, { error: deathError(current) }),
      );
      return failedRecord ?? record;
    } finally {
      await table.release(taskId, id);
    }
  }

  /** Starts a new run of a task. Returns undefined if the task is over, or another process has taken it over. */
  async #runAgain(record: TaskRecord, again: StoredRequest): Promise<TaskRun | undefined> {
    const { table } = this;
    const { taskId } = record;
    const call = this.#callOf(taskId, again);
    const run = this.#makeRun(taskId, call, 0);
    if (!(await table.claim(taskId, run.id, this.defaults.lease))) return undefined;
    try {
      await this.#orphans.log(taskId);
      await run.watch();
      const claimedRecord = await table.update(taskId, (current) =>
        isOver(current) || current.run !== record.run
          ? undefined
          : { ...current, run: run.id, crashes: crashesOf(current) },
      );
      if (claimedRecord?.run !== run.id || isOver(claimedRecord) || this.#slots.isClosed) {
        await run.discard(() => table.leave(taskId, run.id));
        return undefined;
      }
      run.start(claimedRecord);
    } catch (error) {
      // The store may have done the step that failed. The task is left, so that no crash is counted.
      await run.discard(() => table.leave(taskId, run.id));
      throw error;
    }
    this.finish(call, run, dispatchUnprepared(call));
    return run;
  }

  #callOf(taskId: string, { method, params, peer, principal }: StoredRequest): Call {
    const call = new OpenCall({
      core: this.core,
      // Tasks are stored as the latest revision encodes them, and encoded again for the revision of each reader.
      revision: latestModern,
      encoder: modernEncoderOf(latestModern),
      id: taskId,
      method,
      params,
      peer,
      principal: principal && revivePrincipal(principal),
      link: { send: () => {} },
      logLevel: undefined,
      session: undefined,
    });
    this.#reruns.add(call);
    return call;
  }
}

/**
 * Returns the number of crashes of a task that no process runs. The last run has crashed unless it has left the task, or its
 * handler only waited for the client.
 */
function crashesOf({ run, waitingRun, crashes }: TaskRecord): number {
  return run === "" || run === waitingRun ? crashes : crashes + 1;
}

/** Returns the parts of a call that are needed to run it again, without the params of its input requests and its task. */
function toStoredRequest({ method, params, peer: { address: _address, ...peer }, principal }: Call): StoredRequest {
  const { requestState: _, inputResponses: __, task: ___, ...callParams } = params;
  return { method, params: callParams, peer, ...(principal && { principal }) };
}

async function dispatchUnprepared(call: Call): Promise<JsonObject> {
  const result = await dispatch(call);
  return result instanceof Prepared ? result.value : result;
}

function deathError({ again }: TaskRecord): { code: number; message: string } {
  const message = again
    ? `${maxCrashes} processes that ran this task ended before the task, while its handler worked.`
    : "The process that ran this task ended before the task. The effects of the task are unknown.";
  return { code: ErrorCode.InternalError, message };
}
