import type { Client } from "../../../client/client.ts";
import { readToolResult } from "../../../client/calls/tool-results.ts";
import type { RequestOptions } from "../../../client/options.ts";
import type { ListenExtension, Subscription } from "../../../client/subscriptions/subscription.ts";
import { LocalError } from "../../../rpc/errors.ts";
import { type JsonObject, isObject } from "../../../rpc/messages.ts";
import { Method } from "../../../mcp/methods.ts";
import type { CallToolResult } from "../../../mcp/tools.ts";
import { type TaskDetails, type Task, TaskMethod, taskType } from "../task.ts";
import { fromRequested, readTask } from "./task-follower.ts";

/** The reply to a tool call: its result, or a task. */
export type CallReply =
  | {
      /** The task that the server created. */
      task: Task;
      result?: undefined;
    }
  | {
      task?: undefined;
      /** The result, if the server answered without a task. */
      result: CallToolResult;
    };

/** The tasks of a client's server, one step at a time. */
export interface ClientTasks {
  /**
   * Calls a tool and does not wait for its task. The server decides whether the call becomes a task. On 2025-11-25 the
   * client asks for a task if the tool supports it.
   */
  start(name: string, args?: JsonObject, options?: RequestOptions): Promise<CallReply>;
  /** Returns the current state of a task. On 2025-11-25 it has neither input requests nor a result: call `result`. */
  get(taskId: string, options?: RequestOptions): Promise<TaskDetails>;
  /** Follows a task to its result and answers its input requests, as `callTool` does. It may be one of an earlier process. */
  result(taskId: string, options?: RequestOptions): Promise<CallToolResult>;
  /** Asks the server to cancel a task. The server may still finish it. */
  cancel(taskId: string, options?: RequestOptions): Promise<void>;
  /**
   * Calls `onTask` with the current state of tasks and with their state after each change, until the subscription is closed.
   * A state may be reported more than once. On 2025-11-25 only the session that created a task receives its changes, and the
   * server may send none: read the task as well if you depend on them.
   */
  listen(
    taskIds: readonly string[],
    onTask: (task: TaskDetails) => void,
    options?: RequestOptions,
  ): Promise<Subscription>;
}

/**
 * Returns the tasks of a client that was connected with `extensions: [followTasks()]`.
 *
 * @example
 * ```ts
 * import { connect } from "mcparley/client";
 * import { followTasks, tasksOf } from "mcparley/tasks";
 *
 * const client = await connect("https://example.com/mcp", { extensions: [followTasks()] });
 * const tasks = tasksOf(client);
 * const { task, result } = await tasks.start("index");
 * const final = task ? await tasks.result(task.taskId) : result;
 * ```
 */
export function tasksOf(client: Client): ClientTasks {
  const isRequested = (): boolean => client.server.revisionKind === "legacy";
  return {
    async start(name, args = {}, options = {}) {
      const reply = await client.request(Method.callTool, { name, arguments: args }, { ...options, follow: false });
      if (isRequested() && isObject(reply.task)) return { task: readTask(fromRequested(reply.task), name) };
      if (reply.resultType === taskType) return { task: readTask(reply, name) };
      return { result: readToolResult(reply) };
    },
    async get(taskId, options) {
      const task = await client.request(TaskMethod.get, { taskId }, options);
      return readTask(isRequested() ? fromRequested(task) : task, TaskMethod.get);
    },
    async result(taskId, options) {
      const reply = isRequested() ? { task: { taskId } } : { resultType: taskType, taskId };
      const result = await client.follow(Method.callTool, reply, options);
      if ("content" in result || "structuredContent" in result) return readToolResult(result);
      throw new LocalError("invalid_message", `The result of the task ${taskId} is not the result of a tool call.`);
    },
    async cancel(taskId, options) {
      await client.request(TaskMethod.cancel, { taskId }, options);
    },
    listen: (taskIds, onTask, options) => listenToTasks(client, { taskIds, onTask }, options),
  };
}

async function listenToTasks(
  client: Client,
  { taskIds, onTask }: { taskIds: readonly string[]; onTask: (task: TaskDetails) => void },
  options: RequestOptions | undefined,
): Promise<Subscription> {
  const followedIds = new Set(taskIds);
  const notify = (method: string, json: JsonObject): void => {
    const task = readTask(client.server.revisionKind === "legacy" ? fromRequested(json) : json, method);
    if (followedIds.has(task.taskId)) onTask(task);
  };
  // Modern servers send the current state when the subscription starts.
  const readAll = async (): Promise<void> => {
    if (client.server.revisionKind !== "legacy") return;
    await Promise.all(
      [...followedIds].map(async (taskId) =>
        notify(TaskMethod.get, await client.request(TaskMethod.get, { taskId }, options)),
      ),
    );
  };
  const extension: ListenExtension = {
    filter: { taskIds: [...followedIds] },
    notified(method, params) {
      if (method === TaskMethod.changed || method === TaskMethod.statusChanged) notify(method, params);
    },
    // A failure is ignored, because the server also sends the next change.
    missed: () => void readAll().catch(() => {}),
  };
  const subscription = await client.listen({ extension }, () => {}, options);
  try {
    await readAll();
    return subscription;
  } catch (error) {
    await subscription.close();
    throw error;
  }
}
