import type { Client } from "../../../client/calls/client.ts";
import type { RequestOptions } from "../../../client/options.ts";
import { LocalError } from "../../../rpc/errors.ts";
import { type JsonObject, isObject } from "../../../rpc/messages.ts";
import { Method } from "../../../mcp/methods.ts";
import type { CallToolResult } from "../../../mcp/tools.ts";
import { type SeenTask, type Task, TaskMethod, taskType } from "../task.ts";
import { fromRequested, readTask } from "./task-follower.ts";

/** The reply to a tool call: its result, or a task. */
export type Started =
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
  start(name: string, args?: JsonObject, options?: RequestOptions): Promise<Started>;
  /** Returns the current state of a task. On 2025-11-25 it has neither input requests nor a result: call `result`. */
  get(taskId: string, options?: RequestOptions): Promise<SeenTask>;
  /** Follows a task to its result and answers its input requests, as `callTool` does. It may be one of an earlier process. */
  result(taskId: string, options?: RequestOptions): Promise<CallToolResult>;
  /** Asks the server to cancel a task. The server may still finish it. */
  cancel(taskId: string, options?: RequestOptions): Promise<void>;
}

/** Returns the tasks of a client that was connected with `extensions: [followTasks()]`. */
export function tasksOf(client: Client): ClientTasks {
  const isRequested = (): boolean => client.server.era === "legacy";
  return {
    async start(name, args = {}, options = {}) {
      const params: JsonObject = { name, arguments: args };
      if (isRequested() && (await canBeTask(client, name, options))) params.task = {};
      const answer = await client.request(Method.callTool, params, { ...options, follow: false });
      const said = isRequested() && isObject(answer.task) ? fromRequested(answer.task) : answer;
      const isTask = said !== answer || answer.resultType === taskType;
      return isTask ? { task: readTask(said, name) } : { result: answer as unknown as CallToolResult };
    },
    async get(taskId, options) {
      const said = await client.request(TaskMethod.get, { taskId }, options);
      return readTask(isRequested() ? fromRequested(said) : said, TaskMethod.get);
    },
    async result(taskId, options) {
      const kept = isRequested() ? { task: { taskId } } : { resultType: taskType, taskId };
      const result = await client.follow(Method.callTool, kept, options);
      if (Array.isArray(result.content)) return result as unknown as CallToolResult;
      throw new LocalError("invalid_message", `The result of the task ${taskId} is not the result of a tool call.`);
    },
    async cancel(taskId, options) {
      await client.request(TaskMethod.cancel, { taskId }, options);
    },
  };
}

async function canBeTask(client: Client, name: string, { signal }: RequestOptions): Promise<boolean> {
  if (!client.server.capabilities.tasks) return false;
  for await (const tool of client.listTools(signal ? { signal } : {})) {
    if (tool.name !== name) continue;
    const { execution } = tool as { execution?: { taskSupport?: string } };
    return execution?.taskSupport === "optional" || execution?.taskSupport === "required";
  }
  return false;
}
