import { repeat } from "../../../rpc/clock.ts";
import { invalidParams } from "../../../rpc/errors.ts";
import type { JsonObject } from "../../../rpc/messages.ts";
import type { Call, CallSession } from "../../../server/core/call.ts";
import { principalKey } from "../../../server/core/context.ts";
import { type ExtensionSubscription, requireExtension } from "../../../server/core/extension.ts";
import { TaskMethod, isOver, tasksId } from "../task.ts";
import type { Runner } from "./runner.ts";
import { type TaskRecord, toDetailedTask, toRequestedTask } from "./stored-task.ts";

/** Maximum number of tasks in the filter of one stream. */
const maxWatched = 1000;

/**
 * Calls `onState` with the current state of a task and after each change, until the task is over or deleted, or `onState` returns
 * false. `onState` receives undefined if the task does not exist. Returns a function that stops the watch earlier.
 */
export function watchTask(
  runner: Runner,
  taskId: string,
  onState: (record: TaskRecord | undefined) => boolean | void,
): () => void {
  const { core, table, defaults, report } = runner;
  let isStopped = false;
  let isReading = false;
  let hasChanged = false;
  let unsubscribe: (() => Promise<void>) | undefined;

  function stop(): void {
    isStopped = true;
    stopReads();
    unsubscribe?.().catch(report);
    unsubscribe = undefined;
  }

  /** Reads one state at a time, because concurrent reads could call `onState` in the wrong order. */
  async function read(): Promise<void> {
    hasChanged = true;
    if (isReading) return;
    isReading = true;
    try {
      while (hasChanged && !isStopped) {
        hasChanged = false;
        const storedRecord = await table.read(taskId);
        const record = storedRecord && (await runner.revive(storedRecord));
        if (isStopped) return;
        if (onState(record) === false || !record || isOver(record)) stop();
      }
    } catch (error) {
      report(error);
    } finally {
      isReading = false;
    }
  }

  // The task is also read once per lease: the subscription can fail, and a process that has died sends no notification.
  const stopReads = repeat(core.clock, defaults.lease, () => void read());
  table
    .watch(taskId, () => void read())
    .then((stopSubscription) => {
      if (isStopped) return stopSubscription();
      unsubscribe = stopSubscription;
      return undefined;
    })
    .catch(report)
    .finally(() => void read());
  return stop;
}

/** Notifies the session that requested a task of each change of its status (2025-11-25, Task Status Notification). */
export function notifySession(runner: Runner, createdTask: TaskRecord, session: CallSession): void {
  let { status, statusMessage } = createdTask;
  watchTask(runner, createdTask.taskId, (record) => {
    if (!record || (record.status === status && record.statusMessage === statusMessage)) return true;
    ({ status, statusMessage } = record);
    return session.send(TaskMethod.statusChanged, { ...toRequestedTask(record) });
  });
}

/**
 * Adds tasks to a `subscriptions/listen` stream (SEP-2663, Task Status Notifications). Sends the current state of each task
 * and its state after each change. Ids of unknown tasks and of tasks of other callers are ignored.
 */
export async function subscribeTasks(
  runner: Runner,
  { filter, call, send }: { filter: JsonObject; call: Call; send: (method: string, params: JsonObject) => void },
): Promise<ExtensionSubscription | undefined> {
  if (filter.taskIds === undefined) return undefined;
  requireExtension(call, tasksId);
  const records = await Promise.all(readIds(filter.taskIds).map((taskId) => runner.table.read(taskId)));
  const owner = principalKey(call.principal);
  const taskIds = records.flatMap((record) => (record?.owner === owner ? record.taskId : []));
  const stops = taskIds.map((taskId) => {
    let last: string | undefined;
    return watchTask(runner, taskId, (record) => {
      const task = record && toDetailedTask(record, call);
      const text = JSON.stringify(task);
      if (task && text !== last) send(TaskMethod.changed, { ...task });
      last = text;
    });
  });
  return {
    acknowledged: { taskIds },
    end: () => {
      for (const stop of stops) stop();
    },
  };
}

function readIds(value: unknown): string[] {
  const where = "params.notifications.taskIds";
  if (!Array.isArray(value) || !value.every((id) => typeof id === "string")) {
    throw invalidParams(`${where} must be an array of strings`);
  }
  if (value.length > maxWatched) throw invalidParams(`${where} may name at most ${maxWatched} tasks`);
  return [...new Set(value)];
}
