import { pause } from "../../../rpc/abort.ts";
import type { FollowedRequest, PreparedRequest } from "../../../client/extension.ts";
import { LocalError } from "../../../rpc/errors.ts";
import { type JsonObject, isObject } from "../../../rpc/messages.ts";
import { Method } from "../../../mcp/methods.ts";
import { type Task, TaskMethod, isOver } from "../task.ts";
import { Patience } from "./patience.ts";
import { intervalOf, readTask } from "./read-task.ts";

type TaskSupport = "forbidden" | "optional" | "required";

/** How a tool of a server of 2025-11-25 can be called as a task (Tool-Level Negotiation). */
export async function supportOf(request: PreparedRequest): Promise<TaskSupport> {
  const { method, revision, capabilities } = request;
  if (method !== Method.callTool || !revision.requestedTasks) return "forbidden";
  const { requests } = isObject(capabilities.tasks) ? capabilities.tasks : {};
  const tools = isObject(requests) && isObject(requests.tools) ? requests.tools : {};
  if (!tools.call) return "forbidden";
  const { execution } = ((await request.tool()) ?? {}) as { execution?: { taskSupport?: TaskSupport } };
  return execution?.taskSupport ?? "forbidden";
}

/** Whether a call must ask for a task. */
export async function needsTask(request: PreparedRequest): Promise<boolean> {
  return request.params.task === undefined && (await supportOf(request)) === "required";
}

/** A task in the words of 2025-11-25, in those of the extension. */
export function fromRequested(said: JsonObject): JsonObject {
  const { ttl, pollInterval, ...task } = said;
  return {
    ...task,
    ...(ttl !== undefined && { ttlMs: ttl }),
    ...(pollInterval !== undefined && { pollIntervalMs: pollInterval }),
  };
}

/**
 * Follows a task of a server of 2025-11-25: looks at it, and asks for its result once it is over, or needs input, which
 * the server asks for on that request.
 */
export async function followRequested(
  created: JsonObject,
  request: FollowedRequest,
  see: (task: Task) => void,
): Promise<JsonObject> {
  const { clock, signal, what } = request;
  let task: Task = readTask(fromRequested(created), what);
  const { taskId } = task;
  const patience = new Patience(request, taskId);
  see(task);
  let wait = task.status === "working" && task.createdAt !== undefined;
  try {
    for (;;) {
      if (wait) await pause(clock, patience.within(intervalOf(task)), signal);
      wait = true;
      await patience.keep(async () => {
        const said = await request.send(TaskMethod.get, { taskId }, { signal });
        task = readTask({ ...fromRequested(said), taskId }, what);
      });
      see(task);
      const result = isOver(task) || task.status === "input_required" ? await resultOf(request, taskId) : undefined;
      if (result) return result;
    }
  } catch (error) {
    if (patience.isOver(error)) request.send(TaskMethod.cancel, { taskId }).catch(request.report);
    throw error;
  }
}

/** Undefined where the connection did not last until the task was over. */
async function resultOf({ send, signal }: FollowedRequest, taskId: string): Promise<JsonObject | undefined> {
  try {
    return await send(TaskMethod.result, { taskId }, { signal });
  } catch (error) {
    const isBroken = error instanceof LocalError && /^(timeout|closed|http)$/.test(error.code) && !signal.aborted;
    if (isBroken) return undefined;
    throw error;
  }
}
