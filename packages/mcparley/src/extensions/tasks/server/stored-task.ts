import type { InputRequest } from "../../../mcp/input-required.ts";
import { ErrorCode } from "../../../mcp/errors.ts";
import type { Progress } from "../../../mcp/progress.ts";
import type { Clock } from "../../../rpc/clock.ts";
import type { JsonObject, JsonRpcErrorBody } from "../../../rpc/messages.ts";
import type { Call } from "../../../server/core/call.ts";
import type { Peer, Principal } from "../../../server/core/context.ts";
import { encodeRequest } from "../../../server/input/input-request.ts";
import { withStoreErrors } from "../../../store/store-errors.ts";
import type { LogEntry, Store } from "../../../store/store.ts";
import { type DetailedTask, type RequestedTask, type Task, type TaskStatus, isOver } from "../task.ts";

/** The client's response to an input request, or that there was none in time. */
export type InputResponse = { result: unknown } | { error: JsonRpcErrorBody } | { timedOut: true };

/** An input request of a task. */
export interface TaskInputRequest {
  /** Identifies the request to the client. Unique over the lifetime of the task. */
  id: string;
  /** Identifies the request to the handler, in each round and each run. */
  key: string;
  method: string;
  params: JsonObject;
  /** Milliseconds since the epoch until which the handler waits. Undefined without a time limit. */
  endsAt?: number;
  response?: InputResponse;
}

/** The parts of the request that created a task that are needed to run it again. */
export interface StoredRequest {
  method: string;
  params: JsonObject;
  peer: Peer;
  principal?: Principal;
}

/** A task in the store. */
export interface TaskRecord {
  taskId: string;
  /** The key of the principal who created the task. Empty for anonymous callers. */
  owner: string;
  status: TaskStatus;
  statusMessage?: string;
  /** The last progress that the handler reported. */
  progress?: Progress;
  /** Milliseconds since the epoch. */
  createdAt: number;
  updatedAt: number;
  ttlMs: number;
  pollIntervalMs: number;
  /** Whether the client requested the task, as clients of 2025-11-25 do. */
  requested: boolean;
  /** Id of the current run. No other run may change the task. Empty if the last run has left the task in an orderly way. */
  run: string;
  /** Number of processes that died while the handler worked, since the last response of the client or the last new progress. */
  crashes: number;
  /** The run whose handler waits for a response of the client. Missing while the handler works. */
  waitingRun?: string;
  /** The greatest progress that a run has reported. */
  furthest?: number;
  inputRequests: TaskInputRequest[];
  /** The input responses that the handler had before the call became a task, by key. */
  responses: [key: string, result: unknown][];
  /** The values that `ctx.once` recorded. */
  once: [key: string, value: unknown][];
  /** Present if the task may run again after its process has died. */
  again?: StoredRequest;
  result?: JsonObject;
  error?: JsonRpcErrorBody;
}

/** Returns a task without its result, as SEP-2663 encodes it. */
export function toTask(record: TaskRecord): Task {
  const { taskId, status, statusMessage, createdAt, updatedAt, ttlMs, pollIntervalMs } = record;
  return {
    taskId,
    status,
    ...(statusMessage !== undefined && { statusMessage }),
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(updatedAt).toISOString(),
    ttlMs,
    pollIntervalMs,
  };
}

/** Returns a task as in the result of `tasks/get`. The call selects the revision that encodes its input requests. */
export function toDetailedTask(record: TaskRecord, call: Call): DetailedTask {
  const task = toTask(record);
  const { status, result = {}, error = { code: ErrorCode.InternalError, message: "The task failed." } } = record;
  if (status === "completed") return { ...task, status, result };
  if (status === "failed") return { ...task, status, error };
  if (status !== "input_required") return { ...task, status };
  const open = openInputRequests(record).map(({ id, method, params }): [string, InputRequest] => [
    id,
    { method, params: encodeRequest(call, method, params).params },
  ]);
  return { ...task, status, inputRequests: Object.fromEntries(open) };
}

/** Returns a task as 2025-11-25 encodes it. In this revision an error of the tool is a failure of its task. */
export function toRequestedTask(record: TaskRecord): RequestedTask {
  const { ttlMs, pollIntervalMs: _, ...task } = toTask(record);
  const hasFailed = record.status === "completed" && record.result?.isError === true;
  const failure = hasFailed ? { status: "failed" as const, statusMessage: "The tool reported an error." } : {};
  return { ...task, ...failure, ttl: ttlMs, pollInterval: record.pollIntervalMs };
}

export function openInputRequests({ inputRequests }: TaskRecord): TaskInputRequest[] {
  return inputRequests.filter(({ response }) => response === undefined);
}

/** Returns the record with other input requests, and the status that follows from them. */
export function withInputRequests(record: TaskRecord, inputRequests: TaskInputRequest[]): TaskRecord {
  const isOpen = inputRequests.some(({ response }) => response === undefined);
  return { ...record, inputRequests, status: isOpen ? "input_required" : "working" };
}

/** Returns the record with responses to its open input requests. Undefined if there is a response to none of them. */
export function withResponses(
  record: TaskRecord,
  responseTo: (id: string) => InputResponse | undefined,
): TaskRecord | undefined {
  let hasChanged = false;
  const inputRequests = record.inputRequests.map((request) => {
    const response = request.response ? undefined : responseTo(request.id);
    if (!response) return request;
    hasChanged = true;
    return { ...request, response };
  });
  if (!hasChanged) return undefined;
  const { waitingRun: _, ...members } = record;
  return withInputRequests({ ...members, crashes: 0 }, inputRequests);
}

/** Returns the record with progress. Crashes before progress that no earlier run has reported do not count any more. */
export function withProgress(record: TaskRecord, progress: Progress, statusMessage: string): TaskRecord {
  const isFurther = progress.progress > (record.furthest ?? -Infinity);
  return { ...record, statusMessage, progress, ...(isFurther && { furthest: progress.progress, crashes: 0 }) };
}

/** The outcome of a task. */
export type Ending = { result: JsonObject } | { error: JsonRpcErrorBody } | { cancellation: string };

/** Returns the record of a task that has ended, without the members that only a run needs. */
export function endRecord(record: TaskRecord, outcome: Ending): TaskRecord {
  const { statusMessage: _, again: __, waitingRun: ___, furthest: ____, ...members } = record;
  const base = { ...members, inputRequests: [], responses: [], once: [] };
  if ("result" in outcome) return { ...base, status: "completed", result: outcome.result };
  if ("cancellation" in outcome) return { ...base, status: "cancelled", statusMessage: outcome.cancellation };
  return { ...base, status: "failed", statusMessage: outcome.error.message, error: outcome.error };
}

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
  readonly #report: (error: unknown) => void;

  /** `report` is called with errors that belong to no operation. */
  constructor(store: Store, clock: Clock, report: (error: unknown) => void) {
    this.store = withStoreErrors(store, () => {
      this.failedAt = clock.now();
    });
    this.#clock = clock;
    this.#report = report;
  }

  /** Resolves when every process can read the task. */
  async create(record: TaskRecord): Promise<void> {
    const { taskId, ttlMs } = record;
    await this.store.set(taskKey(taskId), JSON.stringify(record), { ttl: ttlMs });
  }

  async read(taskId: string): Promise<TaskRecord | undefined> {
    const text = await this.store.get(taskKey(taskId));
    return text === undefined ? undefined : JSON.parse(text);
  }

  /**
   * Changes a task and notifies its watchers. `change` returns undefined to leave the task unchanged. It is called again if
   * another process changed the task at the same time. Returns the task, or undefined if it no longer exists.
   */
  async update(
    taskId: string,
    change: (record: TaskRecord) => TaskRecord | undefined,
  ): Promise<TaskRecord | undefined> {
    for (;;) {
      const text = await this.store.get(taskKey(taskId));
      if (text === undefined) return undefined;
      const record: TaskRecord = JSON.parse(text);
      const newRecord = change(record);
      if (!newRecord) return record;
      const now = this.#clock.now();
      const next = { ...newRecord, updatedAt: Math.max(record.updatedAt, now) };
      // The clocks of two processes may differ, so the store decides when the task expires. Only a store without `keepTtl`
      // uses the ttl.
      const lifetime = { ttl: Math.max(1, next.createdAt + next.ttlMs - now), keepTtl: true };
      if (await this.store.compareAndSet(taskKey(taskId), text, JSON.stringify(next), lifetime)) {
        await this.notify(taskId);
        return next;
      }
    }
  }

  /** Notifies the watchers of a task. A failure is only reported, because watchers also read the task once per lease. */
  async notify(taskId: string): Promise<void> {
    await this.store.publish(taskKey(taskId), "changed").catch(this.#report);
  }

  /** Ends a run in an orderly way: another process may take the task over at once, and no crash is counted. */
  async leave(taskId: string, run: string): Promise<void> {
    await this.update(taskId, (record) => (record.run === run && !isOver(record) ? { ...record, run: "" } : undefined));
  }

  /** Deletes a task whose start has failed. */
  async remove(taskId: string): Promise<void> {
    await this.store.delete(taskKey(taskId));
  }

  /** Calls `changed` after each change of a task, until the returned function is called. */
  watch(taskId: string, onChange: () => void): Promise<() => Promise<void>> {
    return this.store.subscribe(taskKey(taskId), onChange, onChange);
  }

  /** Adds a task to the list of its caller. */
  async addToList(owner: string, taskId: string, ttl: number): Promise<void> {
    await this.store.append(ownerKey(owner), taskId, { ttl, maxLength: maxListed });
  }

  /** Returns a part of the list of a caller: ids of tasks, oldest first. */
  list(owner: string, position: string | undefined, limit: number): Promise<LogEntry[]> {
    return this.store.readFrom(ownerKey(owner), position, limit);
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
