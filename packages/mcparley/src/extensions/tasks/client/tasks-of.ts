import type { Client } from "../../../client/calls/client.ts";
import type { RequestOptions } from "../../../client/options.ts";
import { LocalError } from "../../../rpc/errors.ts";
import { type JsonObject, isObject } from "../../../rpc/messages.ts";
import { Method } from "../../../mcp/methods.ts";
import type { CallToolResult } from "../../../mcp/tools.ts";
import { type SeenTask, type Task, TaskMethod, taskType } from "../task.ts";
import { readTask } from "./read-task.ts";
import { fromRequested } from "./requested.ts";

/** What a tool call was answered with: its result, or a task that leads to it. */
export type Started = { task: Task; result?: undefined } | { task?: undefined; result: CallToolResult };

/** The tasks of one client's server, to be dealt with one step at a time. */
export interface ClientTasks {
  /**
   * Calls a tool and does not wait for its task to end. The server decides whether it becomes one; one of 2025-11-25 is
   * asked for it, where the tool can.
   */
  start(name: string, args?: JsonObject, options?: RequestOptions): Promise<Started>;
  /** What a task is doing now. Of a server of 2025-11-25, it holds neither questions nor result: ask for `result`. */
  get(taskId: string, options?: RequestOptions): Promise<SeenTask>;
  /** Follows a task to its result, as `callTool` does, its questions included: also one of an earlier process. */
  result(taskId: string, options?: RequestOptions): Promise<CallToolResult>;
  /** Says that a task is not wanted any more. The server may finish it all the same. */
  cancel(taskId: string, options?: RequestOptions): Promise<void>;
}

/** Gives the tasks of a client that was connected with `extensions: [followTasks()]`. */
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
      throw new LocalError("invalid_message", `The task ${taskId} ended with what is no result of a tool.`);
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
