import type { FollowedCall } from "../../../client/extension.ts";
import { pause } from "../../../rpc/abort.ts";
import { LocalError, ProtocolError } from "../../../rpc/errors.ts";
import { type JsonObject, isObject } from "../../../rpc/messages.ts";
import { type Progress, readProgress } from "../../../mcp/progress.ts";
import { type DetailedTask, type Task, TaskMethod, type TaskStatus, isOver, taskProgress } from "../task.ts";
import { TaskDeadline, delayOf, isUnavailable } from "./deadline.ts";

const statuses: readonly TaskStatus[] = ["working", "input_required", "completed", "failed", "cancelled"];

/** Milliseconds between two reads of a task, if the server suggests none. */
const defaultInterval = 1000;
const shortestInterval = 50;
/** Longer suggestions of a server are probably mistakes. */
const longestInterval = 300_000;

/** Checks a task from a server. A task that the caller only knows by its id gets the status `working`. */
export function readTask(json: JsonObject, what: string): DetailedTask {
  const { resultType: _, _meta: __, ...task } = json;
  const { taskId, status: value = "working" } = task;
  if (typeof taskId !== "string" || taskId === "") throw malformedTask(what, "has no taskId");
  const status = statuses.find((one) => one === value);
  if (status === undefined) throw malformedTask(what, `has the unknown status ${JSON.stringify(value)}`);
  // The details of a status are checked where they are used.
  return { ...task, taskId, status } as unknown as DetailedTask;
}

/** Converts a task of 2025-11-25 to the form of the extension. */
export function fromRequested(json: JsonObject): JsonObject {
  const { ttl, pollInterval, ...task } = json;
  return {
    ...task,
    ...(ttl !== undefined && { ttlMs: ttl }),
    ...(pollInterval !== undefined && { pollIntervalMs: pollInterval }),
  };
}

/** Reads a task until it is over, and answers its input requests (SEP-2663, Task Polling). Cancels it if the caller aborts. */
export function followTask(
  request: FollowedCall,
  createdTask: DetailedTask,
  onTask: (task: Task) => void,
): Promise<DetailedTask> {
  const { taskId } = createdTask;
  // A server may list an input request again before it has processed the response.
  const answeredKeys = new Set<string>();
  let unsent: JsonObject | undefined;

  async function sendResponses({ signal }: TaskDeadline): Promise<void> {
    if (!unsent) return;
    await request.send(TaskMethod.update, { taskId, inputResponses: unsent }, { signal });
    unsent = undefined;
  }

  return poll(request, createdTask, {
    onTask,
    async read(deadline) {
      await sendResponses(deadline);
      return request.send(TaskMethod.get, { taskId }, { signal: deadline.signal });
    },
    async outcome(task, deadline) {
      if (isOver(task)) return task;
      if (task.status !== "input_required") return undefined;
      const { inputRequests } = task;
      if (!isObject(inputRequests)) {
        throw new LocalError("invalid_message", `The task of ${request.what} needs input, but has no input requests.`);
      }
      const open = Object.entries(inputRequests).filter(([key]) => !answeredKeys.has(key));
      if (open.length === 0) return undefined;
      for (const [key] of open) answeredKeys.add(key);
      unsent = await deadline.pauseDuring(() => request.answer(Object.fromEntries(open)));
      await deadline.retry(() => sendResponses(deadline), isUnavailable);
      return undefined;
    },
  });
}

/**
 * Follows a task of a server of 2025-11-25. When the task is over or needs input, requests its result: the server sends
 * its own requests to the client during that request.
 */
export function followRequested(
  request: FollowedCall,
  json: JsonObject,
  onTask: (task: Task) => void,
): Promise<JsonObject> {
  const { send, what } = request;
  const createdTask = readTask(fromRequested(json), what);
  const { taskId } = createdTask;
  onTask(createdTask);

  return poll<JsonObject>(request, createdTask, {
    onTask,
    async read({ signal }) {
      return fromRequested(await send(TaskMethod.get, { taskId }, { signal }));
    },
    async outcome(task, deadline) {
      if (!isOver(task) && task.status !== "input_required") return undefined;
      const { signal } = deadline;
      const waitForResult = async (): Promise<JsonObject | undefined> => {
        try {
          return await send(TaskMethod.result, { taskId }, { signal });
        } catch (error) {
          // The task may need longer than the timeout of one request. It is read again.
          const isLate = error instanceof LocalError && error.code === "timeout";
          // The process that waited for the result died. Another one continues the task.
          const isInterrupted =
            error instanceof ProtocolError && isObject(error.data) && error.data.repeatable === true;
          if ((isLate || isInterrupted) && !isOver(task) && !signal.aborted) return undefined;
          throw error;
        }
      };
      // A JSON-RPC error is the outcome of the task, unless it asks to try again.
      return deadline.retry(waitForResult, (error) =>
        error instanceof LocalError ? isUnavailable(error) : delayOf(error) > 0,
      );
    },
  });
}

interface Polling<T> {
  readonly onTask: (task: Task) => void;
  /** Returns the result of `tasks/get`, in the form of the extension. */
  read(this: void, deadline: TaskDeadline): Promise<JsonObject>;
  /** Returns undefined to read the task again later. */
  outcome(this: void, task: DetailedTask, deadline: TaskDeadline): Promise<T | undefined>;
}

async function poll<T>(
  request: FollowedCall,
  createdTask: DetailedTask,
  { onTask, read, outcome }: Polling<T>,
): Promise<T> {
  const deadline = new TaskDeadline(request, createdTask.taskId);
  let task = createdTask;
  let lastRead: Progress | undefined;
  // A task of an earlier process, or one that does not start as `working`, is read at once.
  let wait = task.status === "working" && task.createdAt !== undefined;
  try {
    for (;;) {
      if (wait) await pause(request.clock, intervalOf(task), deadline.signal);
      wait = true;
      const json = await deadline.retry(() => read(deadline), isUnavailable);
      task = readTask({ ...json, taskId: task.taskId }, request.what);
      onTask(task);
      const progress = progressIn(json, request, lastRead);
      if (progress) request.notifyProgress((lastRead = progress));
      const result = await outcome(task, deadline);
      if (result) return result;
    }
  } catch (error) {
    // The caller does not wait for the reply.
    if (deadline.isAbandoned) request.send(TaskMethod.cancel, { taskId: task.taskId }).catch(request.report);
    throw error;
  } finally {
    deadline.release();
  }
}

/**
 * Returns the progress in a result of `tasks/get`, if it is new to the caller. Servers of other software send no numbers: each
 * new status message counts as one, unless the caller received a notification after `lastRead`, the last returned progress.
 */
function progressIn(json: JsonObject, { progress: last }: FollowedCall, lastRead?: Progress): Progress | undefined {
  const { _meta: meta, status, statusMessage } = json;
  const value = isObject(meta) ? meta[taskProgress] : undefined;
  const progress = isObject(value) ? readProgress(value) : undefined;
  if (progress) return !last || progress.progress > last.progress ? progress : undefined;
  // The message of a task that is over is the reason of its end.
  const isText = typeof statusMessage === "string" && (status === "working" || status === "input_required");
  const isNew = isText && last === lastRead && statusMessage !== last?.message;
  return isNew ? { progress: (last?.progress ?? 0) + 1, message: statusMessage } : undefined;
}

function intervalOf({ pollIntervalMs }: { pollIntervalMs?: unknown }): number {
  const interval = typeof pollIntervalMs === "number" && pollIntervalMs >= 0 ? pollIntervalMs : defaultInterval;
  return Math.min(Math.max(interval, shortestInterval), longestInterval);
}

function malformedTask(what: string, why: string): LocalError {
  return new LocalError("invalid_message", `The task of ${what} ${why}.`);
}
