import { encodeRequest } from "../../../server/input/encode-request.ts";
import { ProtocolError } from "../../../rpc/errors.ts";
import { ErrorCode } from "../../../mcp/errors.ts";
import type { JsonObject } from "../../../rpc/messages.ts";
import type { Call } from "../../../server/dispatch/call.ts";
import { principalKey } from "../../../server/dispatch/context.ts";
import { type ServerExtension, requireExtension } from "../../../server/extension.ts";
import type { Session } from "../../../server/protocol/session.ts";
import { TaskMethod, tasksId } from "../task.ts";
import { type TaskRecord, toDetailedTask, toRequestedTask } from "./record.ts";
import type { Runner } from "./runner.ts";
import { watchTask } from "./watch-task.ts";

/** The most tasks that one stream may name. */
const maxWatched = 1000;

/** Tells the session that asked for a task of each change of its status (2025-11-25, Task Status Notification). */
export function followForSession(runner: Runner, begun: TaskRecord, session: Session): void {
  let { status, statusMessage } = begun;
  watchTask(runner, begun.taskId, (record) => {
    if (!record || (record.status === status && record.statusMessage === statusMessage)) return true;
    ({ status, statusMessage } = record);
    return session.notify(TaskMethod.statusChanged, { ...toRequestedTask(record) });
  });
}

/**
 * Returns the function that opens the tasks' part of a stream. It acknowledges the tasks that exist and belong to the
 * caller. Each is sent in its current state and after each change (SEP-2663, Task Status Notifications).
 */
export function taskSubscriptions(runnerOf: (call: Call) => Runner): NonNullable<ServerExtension["subscribe"]> {
  return async (wanted, call, send) => {
    if (wanted.taskIds === undefined) return undefined;
    requireExtension(call, tasksId);
    const runner = runnerOf(call);
    const ids = readIds(wanted.taskIds);
    const found = await Promise.all(ids.map((taskId) => runner.table.read(taskId)));
    const owner = principalKey(call.principal);
    const taskIds = found.flatMap((record) => (record?.owner === owner ? record.taskId : []));
    const say = (method: string, params: JsonObject): JsonObject => encodeRequest(call, method, params).params;
    const ends = taskIds.map((taskId) => {
      let last: string | undefined;
      return watchTask(runner, taskId, (record) => {
        const task = record && toDetailedTask(record, say);
        const text = JSON.stringify(task);
        if (task && text !== last) send(TaskMethod.changed, { ...task });
        last = text;
      });
    });
    return {
      acknowledged: { taskIds },
      end: () => {
        for (const end of ends) end();
      },
    };
  };
}

function readIds(value: unknown): string[] {
  const where = "params.notifications.taskIds";
  if (!Array.isArray(value) || !value.every((id) => typeof id === "string")) {
    throw new ProtocolError(ErrorCode.InvalidParams, `${where} must be an array of strings`);
  }
  if (value.length > maxWatched) {
    throw new ProtocolError(ErrorCode.InvalidParams, `${where} may name at most ${maxWatched} tasks`);
  }
  return [...new Set(value)];
}
