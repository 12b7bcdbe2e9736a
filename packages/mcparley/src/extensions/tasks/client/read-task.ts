import { LocalError } from "../../../rpc/errors.ts";
import type { JsonObject } from "../../../rpc/messages.ts";
import type { DetailedTask, TaskStatus } from "../task.ts";

const statuses: readonly TaskStatus[] = ["working", "input_required", "completed", "failed", "cancelled"];

/** What the server suggests where it suggests nothing. */
const defaultInterval = 1000;
const shortestInterval = 50;
/** A longer pause is no pause but a mistake. */
const longestInterval = 300_000;

/** Checks what a server says of a task. What it does not say of one that was kept is filled in. */
export function readTask(said: JsonObject, what: string): DetailedTask {
  const { taskId, status = "working" } = said;
  if (typeof taskId !== "string" || taskId === "") throw malformed(what, "has no taskId");
  if (!statuses.includes(status as TaskStatus))
    throw malformed(what, `has the unknown status ${JSON.stringify(status)}`);
  const { resultType: _, _meta: __, ...task } = said;
  return { ...task, status } as unknown as DetailedTask;
}

/** Milliseconds to wait before looking at a task again. */
export function intervalOf({ pollIntervalMs }: { pollIntervalMs?: unknown }): number {
  const wanted = typeof pollIntervalMs === "number" && pollIntervalMs >= 0 ? pollIntervalMs : defaultInterval;
  return Math.min(Math.max(wanted, shortestInterval), longestInterval);
}

function malformed(what: string, why: string): LocalError {
  return new LocalError("invalid_message", `${what} was answered with a task that ${why}.`);
}
