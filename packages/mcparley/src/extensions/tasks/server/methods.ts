import { encodeRequest } from "../../../server/input/encode-request.ts";
import { ProtocolError, invalidParams } from "../../../rpc/errors.ts";
import { ErrorCode } from "../../../mcp/errors.ts";
import { type JsonObject, isObject } from "../../../rpc/messages.ts";
import { readCursor } from "../../../mcp/resources.ts";
import type { Call } from "../../../server/dispatch/call.ts";
import { principalKey } from "../../../server/dispatch/context.ts";
import { type ExtensionMethod, declaresExtension, requireExtension } from "../../../server/extension.ts";
import { TaskMethod, isOver, tasksId } from "../task.ts";
import { ended, toDetailedTask, toRequestedTask, withAnswers, type TaskRecord } from "./record.ts";
import { resultOf } from "./result-method.ts";
import type { Runner } from "./runner.ts";

const both = ["modern", "legacy"] as const;

/** What answers the tasks' methods: the extension's own on modern revisions, those of 2025-11-25 in its sessions. */
export function taskMethods(runnerOf: (call: Call) => Runner): Record<string, ExtensionMethod> {
  const mirroredName = "taskId";
  return {
    [TaskMethod.get]: { eras: both, mirroredName, answer: (call) => get(call, runnerOf(call)) },
    [TaskMethod.update]: { mirroredName, answer: (call) => update(call, runnerOf(call)) },
    [TaskMethod.cancel]: { eras: both, mirroredName, answer: (call) => cancel(call, runnerOf(call)) },
    [TaskMethod.result]: {
      eras: ["legacy"],
      answer: async (call) => resultOf(call, runnerOf(call), await find(call, runnerOf(call))),
    },
    [TaskMethod.list]: { eras: ["legacy"], answer: (call) => list(call, runnerOf(call)) },
  };
}

async function get(call: Call, runner: Runner): Promise<JsonObject> {
  const record = await runner.revived(await find(call, runner));
  if (call.session) return { ...toRequestedTask(record) };
  return { ...toDetailedTask(record, (method, params) => encodeRequest(call, method, params).params) };
}

/** Takes answers. Those to what is not asked, or not any more, are let pass (SEP-2663, Task Update Requests). */
async function update(call: Call, runner: Runner): Promise<JsonObject> {
  const { taskId } = await find(call, runner);
  const { inputResponses } = call.params;
  if (!isObject(inputResponses)) throw invalidParams("params.inputResponses must be an object");
  const record = await runner.table.update(taskId, (found) =>
    isOver(found)
      ? undefined
      : withAnswers(found, (id) => (Object.hasOwn(inputResponses, id) ? { result: inputResponses[id] } : undefined)),
  );
  // Nobody may be there to take the answers.
  if (record) await runner.revived(record);
  return {};
}

async function cancel(call: Call, runner: Runner): Promise<JsonObject> {
  const found = await find(call, runner);
  const before = found.status;
  const record = await runner.table.update(found.taskId, (now) =>
    isOver(now) ? undefined : ended(now, { cancelled: "The task was cancelled by request." }),
  );
  if (!call.session) return {};
  if (!record) throw notFound();
  if (isOver(found)) throw invalidParams(`Cannot cancel the task: it is ${before} already.`);
  return { ...toRequestedTask(record) };
}

async function list(call: Call, runner: Runner): Promise<JsonObject> {
  requireRevision(call);
  const owner = principalKey(call.principal);
  if (owner === "" && !runner.defaults.listForAnyone) throw methodNotFound(call);
  const { pageSize } = runner.core.limits;
  const cursor = readCursor(call.params);
  const noted = await runner.table.noted(owner, cursor === undefined ? undefined : positionOf(cursor), pageSize + 1);
  const page = noted.slice(0, pageSize);
  const records = await Promise.all(page.map(({ value }) => runner.table.read(value)));
  const tasks = records.flatMap((record) => (record ? toRequestedTask(record) : []));
  const last = page.at(-1);
  return last && noted.length > pageSize ? { tasks, nextCursor: btoa(`task:${last.position}`) } : { tasks };
}

function positionOf(cursor: string): string {
  let decoded = "";
  try {
    decoded = atob(cursor);
  } catch {
    // Not base64: reported below like any other cursor that this server did not give.
  }
  const position = /^task:([\x20-\x7e]{1,100})$/.exec(decoded)?.[1];
  if (position !== undefined) return position;
  throw invalidParams("params.cursor is not one that this server gave. List again from the start.");
}

/**
 * Finds the task that a request names. One of another caller does not exist for this one, and it cannot be told from
 * one that never was.
 */
async function find(call: Call, runner: Runner): Promise<TaskRecord> {
  requireRevision(call);
  const mayKnow = call.session !== undefined || declaresExtension(call, tasksId) || hasRequestedTasks(call);
  if (!mayKnow) requireExtension(call, tasksId);
  const { taskId } = call.params;
  if (typeof taskId !== "string") throw invalidParams("params.taskId must be a string");
  const record = await runner.table.read(taskId);
  if (!record || record.owner !== principalKey(call.principal)) throw notFound();
  if (call.session === undefined && !record.requested) requireExtension(call, tasksId);
  return record;
}

/**
 * Whether a modern client has declared the capability of 2025-11-25 alone: it may look at, and cancel, the tasks that it
 * has asked for in that form (SEP-2663, Backward Compatibility).
 */
function hasRequestedTasks({ method, peer }: Call): boolean {
  return isObject(peer.capabilities.tasks) && method !== TaskMethod.update;
}

function requireRevision(call: Call): void {
  if (call.session && !call.revision.requestedTasks) throw methodNotFound(call);
}

function methodNotFound({ method }: Call): ProtocolError {
  return new ProtocolError(ErrorCode.MethodNotFound, `Method not found: ${method}`);
}

function notFound(): ProtocolError {
  return invalidParams("There is no such task. It may have outlived its ttl.");
}
