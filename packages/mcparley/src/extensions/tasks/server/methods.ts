import { ErrorCode } from "../../../mcp/errors.ts";
import { readCursor } from "../../../mcp/resources.ts";
import type { CallToolResult } from "../../../mcp/tools.ts";
import { LocalError, ProtocolError, invalidParams } from "../../../rpc/errors.ts";
import { type JsonObject, isObject } from "../../../rpc/messages.ts";
import type { Call } from "../../../server/core/call.ts";
import { explainUnknownId } from "../../../server/core/local-id.ts";
import { principalKey } from "../../../server/core/context.ts";
import { toProtocolError } from "../../../server/dispatch/reply.ts";
import { type ExtensionMethod, declaresExtension, requireExtension } from "../../../server/core/extension.ts";
import { decodeCursor } from "../../../server/features/lists.ts";
import { TaskMethod, isOver, relatedTask, taskProgress, tasksId } from "../task.ts";
import type { Runner } from "./runner.ts";
import {
  type InputResponse,
  type TaskInputRequest,
  type TaskRecord,
  endRecord,
  openInputRequests,
  toDetailedTask,
  toRequestedTask,
  withResponses,
} from "./stored-task.ts";
import { watchTask } from "./watching.ts";

/** The form of a decoded cursor of `tasks/list`. */
const cursorForm = /^task:([\x20-\x7e]{1,100})$/;

const both = ["modern", "legacy"] as const;

/** Returns the methods of tasks: of SEP-2663 for modern revisions, and of 2025-11-25 for sessions of that revision. */
export function taskMethods(runnerOf: (call: Call) => Runner): Record<string, ExtensionMethod> {
  const mirroredName = "taskId";
  return {
    [TaskMethod.get]: { revisionKinds: both, mirroredName, answer: (call) => get(call, runnerOf(call)) },
    [TaskMethod.update]: { mirroredName, answer: (call) => update(call, runnerOf(call)) },
    [TaskMethod.cancel]: { revisionKinds: both, mirroredName, answer: (call) => cancel(call, runnerOf(call)) },
    [TaskMethod.result]: { revisionKinds: ["legacy"], answer: (call) => waitForResult(call, runnerOf(call)) },
    [TaskMethod.list]: { revisionKinds: ["legacy"], answer: (call) => list(call, runnerOf(call)) },
  };
}

async function get(call: Call, runner: Runner): Promise<JsonObject> {
  const record = await runner.revive(await find(call, runner));
  const task = call.session ? toRequestedTask(record) : toDetailedTask(record, call);
  return record.progress ? { ...task, _meta: { [taskProgress]: record.progress } } : { ...task };
}

/** Stores input responses. Responses to unknown or answered input requests are ignored (SEP-2663, Task Update Requests). */
async function update(call: Call, runner: Runner): Promise<JsonObject> {
  const { taskId } = await find(call, runner);
  const { inputResponses } = call.params;
  if (!isObject(inputResponses)) throw invalidParams("params.inputResponses must be an object");
  await respond(runner, taskId, (id) =>
    Object.hasOwn(inputResponses, id) ? { result: inputResponses[id] } : undefined,
  );
  return {};
}

async function cancel(call: Call, runner: Runner): Promise<JsonObject> {
  const original = await find(call, runner);
  const record = await runner.table.update(original.taskId, (now) =>
    isOver(now) ? undefined : endRecord(now, { cancellation: "The task was cancelled by request." }),
  );
  if (!call.session) return {};
  if (!record) throw notFound(runner, original.taskId);
  if (isOver(original)) throw invalidParams(`Cannot cancel the task: its status is already ${original.status}.`);
  return { ...toRequestedTask(record) };
}

async function list(call: Call, runner: Runner): Promise<JsonObject> {
  requireRevision(call);
  const owner = principalKey(call.principal);
  if (owner === "" && !runner.defaults.listForAnyone) throw methodNotFound(call);
  const { pageSize } = runner.core.limits;
  const cursor = readCursor(call.params);
  const position = cursor === undefined ? undefined : decodeCursor(cursor, cursorForm);
  const entries = await runner.table.list(owner, position, pageSize + 1);
  const page = entries.slice(0, pageSize);
  const records = await Promise.all(page.map(({ value }) => runner.table.read(value)));
  const tasks = records.flatMap((record) => (record ? toRequestedTask(record) : []));
  const last = page.at(-1);
  return last && entries.length > pageSize ? { tasks, nextCursor: btoa(`task:${last.position}`) } : { tasks };
}

/**
 * Answers `tasks/result` when the task is over, with the result or error of the original request. Until then, sends the
 * task's input requests on the stream of this request (2025-11-25, Input Required Status).
 */
async function waitForResult(call: Call, runner: Runner): Promise<JsonObject> {
  const { taskId } = await find(call, runner);
  const sentIds = new Set<string>();
  const record = await new Promise<TaskRecord | undefined>((resolve, reject) => {
    const stop = watchTask(runner, taskId, (current) => {
      if (!current || isOver(current)) return resolve(current);
      for (const request of openInputRequests(current)) {
        if (sentIds.has(request.id)) continue;
        sentIds.add(request.id);
        requestInput(call, taskId, request)
          .then((response) => response && respond(runner, taskId, (id) => (id === request.id ? response : undefined)))
          .catch((error: unknown) => runner.core.report(error, call));
      }
    });
    const onAbort = (): void => {
      stop();
      reject(new LocalError("aborted", "The client no longer waits for the task."));
    };
    if (call.signal.aborted) onAbort();
    else call.signal.addEventListener("abort", onAbort, { once: true });
  });
  if (!record) throw invalidParams("The ttl of the task has passed.");
  if (record.error) throw ProtocolError.from(record.error);
  if (!record.result) throw new ProtocolError(ErrorCode.InternalError, "The task was cancelled.");
  // Only calls of tools become tasks, and their results were checked before they were stored.
  const { _meta: meta, ...result } = call.encoder.callToolResult(record.result as unknown as CallToolResult);
  return { ...result, _meta: { ...meta, [relatedTask]: { taskId } } };
}

/** Sends an input request of a task. Returns undefined if the client is gone or its response is late; the request stays open. */
async function requestInput(
  call: Call,
  taskId: string,
  { id, method, params, endsAt }: TaskInputRequest,
): Promise<InputResponse | undefined> {
  const meta = { ...(isObject(params._meta) && params._meta), [relatedTask]: { taskId } };
  try {
    const channel = await call.input;
    const timeout = endsAt === undefined ? undefined : Math.max(0, endsAt - call.core.clock.now());
    const request = { method, key: id, params: { ...params, _meta: meta }, timeout, requires: {} };
    return { result: await channel.request({ ...request, read: (result) => result }) };
  } catch (error) {
    const isGone = error instanceof LocalError && /^(aborted|closed|timeout)$/.test(error.code);
    return isGone ? undefined : { error: toProtocolError(error, call).toBody() };
  }
}

/** Stores responses to the open input requests of a task. */
async function respond(
  runner: Runner,
  taskId: string,
  responseTo: (id: string) => InputResponse | undefined,
): Promise<void> {
  const record = await runner.table.update(taskId, (now) => (isOver(now) ? undefined : withResponses(now, responseTo)));
  // The process of the task may have died. Another run then reads the responses.
  if (record) await runner.revive(record);
}

/** Returns the task that a request names. A task of another caller is reported like one that does not exist. */
async function find(call: Call, runner: Runner): Promise<TaskRecord> {
  requireRevision(call);
  // A modern client that declares the capability of 2025-11-25 can read and cancel the tasks that it requested in the form
  // of that revision (SEP-2663, Backward Compatibility).
  const hasLegacyTasks = isObject(call.peer.capabilities.tasks) && call.method !== TaskMethod.update;
  if (!call.session && !declaresExtension(call, tasksId) && !hasLegacyTasks) requireExtension(call, tasksId);
  const { taskId } = call.params;
  if (typeof taskId !== "string") throw invalidParams("params.taskId must be a string");
  const record = await runner.table.read(taskId);
  if (!record || record.owner !== principalKey(call.principal)) throw notFound(runner, taskId);
  if (call.session === undefined && !record.requested) requireExtension(call, tasksId);
  return record;
}

function requireRevision(call: Call): void {
  if (call.session && !call.revision.requestedTasks) throw methodNotFound(call);
}

function methodNotFound({ method }: Call): ProtocolError {
  return new ProtocolError(ErrorCode.MethodNotFound, `Method not found: ${method}`);
}

function notFound({ core }: Runner, taskId: string): ProtocolError {
  return invalidParams(`The task ${explainUnknownId(core, taskId) ?? "does not exist, or its ttl has passed."}`);
}
