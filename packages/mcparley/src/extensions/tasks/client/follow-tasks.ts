import { LocalError, ProtocolError } from "../../../rpc/errors.ts";
import { type JsonObject, isObject } from "../../../rpc/messages.ts";
import { Method } from "../../../mcp/methods.ts";
import { guarded } from "../../../rpc/guarded.ts";
import type { ClientExtension, PreparedCall } from "../../../client/extension.ts";
import { type DetailedTask, type Task, TaskMethod, taskType, tasksId } from "../task.ts";
import { followRequested, followTask, readTask } from "./task-follower.ts";

/** Options of `followTasks`. */
export interface FollowTasksOptions {
  /**
   * Called with a task when it is created and each time it is read. If you store its `taskId`, a later process can
   * continue with `tasksOf(client).result(taskId)`.
   */
  onTask?: (task: Task) => void;
}

/**
 * Adds the tasks extension to a client: `connect(target, { extensions: [followTasks()] })`.
 *
 * If a server answers a tool call with a task, the client follows it to its result: it reads the task at the interval
 * that the server suggests, passes its input requests to the client's handlers, and cancels the task if the call is
 * aborted. On 2025-11-25 the client itself creates a task for each call of a tool that supports tasks.
 *
 * The call's `onProgress` receives the progress of the task. If the server reports texts without numbers, `progress` is the
 * number of texts so far.
 *
 * Stage of the extension `io.modelcontextprotocol/tasks` on 2026-11-26: Beta. Breaking changes of its specification are
 * possible. They are rare, batched, and listed in its changelog. Before version 1.0, this library follows them in a minor
 * release.
 *
 * @example
 * ```ts
 * import { connect } from "mcparley/client";
 * import { followTasks } from "mcparley/tasks";
 *
 * const client = await connect("https://example.com/mcp", {
 *   extensions: [followTasks({ onTask: ({ taskId, status }) => console.log(taskId, status) })],
 * });
 * const result = await client.callTool("index");
 * ```
 */
export function followTasks({ onTask }: FollowTasksOptions = {}): ClientExtension {
  const mirroredNames = { [TaskMethod.get]: "taskId", [TaskMethod.update]: "taskId", [TaskMethod.cancel]: "taskId" };
  return {
    id: tasksId,
    mirroredNames,
    repeatable: [TaskMethod.get, TaskMethod.result, TaskMethod.list],
    prepare(request) {
      return couldBeTask(request) ? taskParams(request) : undefined;
    },
    follow(result, request) {
      if (request.method !== Method.callTool) return undefined;
      const notify = (task: Task): void => guarded(() => onTask?.(task), request.report);
      if (request.revision.requestedTasks) {
        const { task } = result;
        return isObject(task) ? () => followRequested(request, task, notify) : undefined;
      }
      if (result.resultType !== taskType) return undefined;
      return async () => {
        const task = readTask(result, request.what);
        notify(task);
        return outcomeOf(await followTask(request, task, notify), request.what);
      };
    },
  };
}

/** Whether the server could run a call as a task: its revision lets the client decide, and it has declared tasks for tools. */
function couldBeTask({ method, params, revision, capabilities }: PreparedCall): boolean {
  if (params.task !== undefined || method !== Method.callTool || !revision.requestedTasks) return false;
  const { requests } = isObject(capabilities.tasks) ? capabilities.tasks : {};
  return isObject(requests) && isObject(requests.tools) && Boolean(requests.tools.call);
}

/** Returns the params of a task if the tool can be called as one (Tool-Level Negotiation). */
async function taskParams({ tool }: PreparedCall): Promise<JsonObject | undefined> {
  const listedTool: unknown = await tool();
  const execution = isObject(listedTool) ? listedTool.execution : undefined;
  const isPossible =
    isObject(execution) && (execution.taskSupport === "optional" || execution.taskSupport === "required");
  return isPossible ? { task: {} } : undefined;
}

/** Returns the result of a task that is over. Throws if it has none. */
function outcomeOf(task: DetailedTask, what: string): JsonObject {
  if (task.status === "completed" && isObject(task.result)) return task.result;
  if (task.status === "failed" && isObject(task.error)) throw ProtocolError.from(task.error);
  if (task.status === "cancelled") {
    const why = task.statusMessage === undefined ? "" : ` ${task.statusMessage}`;
    throw new LocalError("aborted", `The task of ${what} was cancelled.${why}`, { data: { taskId: task.taskId } });
  }
  throw new LocalError(
    "invalid_message",
    `The task of ${what} is ${task.status}, but the server sent no ${task.status === "failed" ? "error" : "result"}.`,
  );
}
