import { LocalError, ProtocolError } from "../../../rpc/errors.ts";
import { type JsonObject, isObject } from "../../../rpc/messages.ts";
import { Method } from "../../../mcp/methods.ts";
import type { ClientExtension } from "../../../client/extension.ts";
import { type DetailedTask, type Task, TaskMethod, taskType, tasksId } from "../task.ts";
import { TaskFollower } from "./task-follower.ts";
import { readTask } from "./read-task.ts";
import { followRequested, needsTask } from "./requested.ts";

/** Options of `followTasks`. */
export interface FollowTasksOptions {
  /**
   * Told of a task when it is created and each time it is looked at. Keep `taskId` somewhere that outlives the process,
   * and `tasksOf(client).result(taskId)` goes on from it later.
   */
  onTask?: (task: Task) => void;
}

/**
 * Lets a client use servers that have tasks: `connect(target, { extensions: [followTasks()] })`.
 *
 * A tool call that is answered with a task is followed to its result: it is looked at as often as the server asks, its
 * questions go to the same handlers as any others, and aborting the call cancels the task. Tools that a server of
 * 2025-11-25 runs as tasks alone are called as tasks.
 */
export function followTasks({ onTask }: FollowTasksOptions = {}): ClientExtension {
  const tell = (task: Task, report: (error: unknown) => void): void => {
    try {
      onTask?.(task);
    } catch (error) {
      report(error);
    }
  };
  const mirroredNames = { [TaskMethod.get]: "taskId", [TaskMethod.update]: "taskId", [TaskMethod.cancel]: "taskId" };
  return {
    id: tasksId,
    mirroredNames,
    async prepare(request) {
      return (await needsTask(request)) ? { task: {} } : undefined;
    },
    follow(result, request) {
      if (request.method !== Method.callTool) return undefined;
      const see = (task: Task): void => tell(task, request.report);
      if (request.revision.requestedTasks) {
        return isObject(result.task) ? () => followRequested(result.task as JsonObject, request, see) : undefined;
      }
      if (result.resultType !== taskType) return undefined;
      return async () => {
        const task = readTask(result, request.what);
        see(task);
        return outcomeOf(await new TaskFollower(request, task, see).end(), request.what);
      };
    },
  };
}

/** The result of a task that is over. Throws where it has none. */
function outcomeOf(task: DetailedTask, what: string): JsonObject {
  if (task.status === "completed" && isObject(task.result)) return task.result;
  if (task.status === "failed" && isObject(task.error)) throw ProtocolError.from(task.error);
  if (task.status === "cancelled") {
    const why = task.statusMessage === undefined ? "" : ` ${task.statusMessage}`;
    throw new LocalError("aborted", `The task of ${what} was cancelled.${why}`, { data: { taskId: task.taskId } });
  }
  throw new LocalError(
    "invalid_message",
    `The server says that the task of ${what} is ${task.status}, without its outcome.`,
  );
}
