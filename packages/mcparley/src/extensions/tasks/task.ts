import type { JsonObject, JsonRpcErrorBody } from "../../rpc/messages.ts";
import type { InputRequest } from "../../mcp/input-required.ts";

/** The identifier of the extension. */
export const tasksId = "io.modelcontextprotocol/tasks";

/** The `_meta` key that names the task that a message belongs to (2025-11-25, Related Task Metadata). */
export const relatedTask = "io.modelcontextprotocol/related-task";

/**
 * The `_meta` key of the result of `tasks/get` that has the progress of the handler. Tasks of 2026-07-28 have no progress
 * notifications, and clients that do not know the key read `statusMessage`.
 */
export const taskProgress = "mcparley/progress";

/** The `resultType` of a result that is a task (SEP-2663, Polymorphic Results). */
export const taskType = "task";

/** The methods and notifications of tasks, of SEP-2663 and of 2025-11-25. */
export const TaskMethod = {
  get: "tasks/get",
  update: "tasks/update",
  cancel: "tasks/cancel",
  /** Only in 2025-11-25. */
  result: "tasks/result",
  /** Only in 2025-11-25. */
  list: "tasks/list",
  changed: "notifications/tasks",
  /** Only in 2025-11-25. */
  statusChanged: "notifications/tasks/status",
} as const;

/** The status of a task. The last three are final. */
export type TaskStatus = "working" | "input_required" | "completed" | "failed" | "cancelled";

/** A task without its result. */
export interface Task {
  /** Identifies the task. On a server without authorization it is a secret: any client that knows it can access the task. */
  taskId: string;
  /** The state of the task. `completed`, `failed` and `cancelled` are final. */
  status: TaskStatus;
  /** The current step, or the reason of the end. */
  statusMessage?: string;
  /** ISO 8601. */
  createdAt: string;
  /** Time of the last change of status, ISO 8601. */
  lastUpdatedAt: string;
  /** Milliseconds from its creation for which the task is kept. Null means without a limit. */
  ttlMs: number | null;
  /** Milliseconds between two polls of a client. */
  pollIntervalMs?: number;
}

/** A task with the details of its status: its open input requests, its result, or its error. */
export type DetailedTask = Task &
  (
    | { status: "working" | "cancelled" }
    | { status: "input_required"; inputRequests: Record<string, InputRequest> }
    | { status: "completed"; result: JsonObject }
    | { status: "failed"; error: JsonRpcErrorBody }
  );

/** A task as a client receives it, with the details that the server has sent. */
export interface TaskDetails extends Task {
  /** The requests to answer, by key, if the status is `input_required`. */
  inputRequests?: Record<string, InputRequest>;
  /** The result, if the status is `completed`. */
  result?: JsonObject;
  /** The error, if the status is `failed`. */
  error?: JsonRpcErrorBody;
}

/** A task as 2025-11-25 encodes it. */
export interface RequestedTask {
  taskId: string;
  status: TaskStatus;
  statusMessage?: string;
  createdAt: string;
  lastUpdatedAt: string;
  ttl: number | null;
  pollInterval?: number;
}

/** Returns whether a task is in a final status. */
export function isOver({ status }: { status: TaskStatus }): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}
