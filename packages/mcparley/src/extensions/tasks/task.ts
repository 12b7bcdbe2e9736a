import type { JsonObject, JsonRpcErrorBody } from "../../rpc/messages.ts";
import type { InputRequest } from "../../mcp/input-required.ts";

/** The identifier of the extension. */
export const tasksId = "io.modelcontextprotocol/tasks";

/** The `_meta` key that names the task that a message belongs to (2025-11-25, Related Task Metadata). */
export const relatedTask = "io.modelcontextprotocol/related-task";

/** What a result says of its type that is a task (SEP-2663, Polymorphic Results). */
export const taskType = "task";

/** The names of the tasks' methods and notifications, of both forms. */
export const TaskMethod = {
  get: "tasks/get",
  update: "tasks/update",
  cancel: "tasks/cancel",
  /** 2025-11-25 alone. */
  result: "tasks/result",
  /** 2025-11-25 alone. */
  list: "tasks/list",
  changed: "notifications/tasks",
  /** 2025-11-25 alone. */
  statusChanged: "notifications/tasks/status",
} as const;

/** The status of a task. The last three are final. */
export type TaskStatus = "working" | "input_required" | "completed" | "failed" | "cancelled";

/** What is known of a task without its outcome. */
export interface Task {
  taskId: string;
  status: TaskStatus;
  /** What it is doing, or why it ended. */
  statusMessage?: string;
  /** ISO 8601. */
  createdAt: string;
  lastUpdatedAt: string;
  /** Milliseconds from its creation on for which it is kept; null means without a limit. */
  ttlMs: number | null;
  /** Milliseconds to wait between two looks at it. */
  pollIntervalMs?: number;
}

/** A task with what belongs to its status: the questions that are open, the result, or the error. */
export type DetailedTask = Task &
  (
    | { status: "working" | "cancelled" }
    | { status: "input_required"; inputRequests: Record<string, InputRequest> }
    | { status: "completed"; result: JsonObject }
    | { status: "failed"; error: JsonRpcErrorBody }
  );

/** A task as a server shows it, with what it says of its outcome. */
export interface SeenTask extends Task {
  inputRequests?: Record<string, InputRequest>;
  result?: JsonObject;
  error?: JsonRpcErrorBody;
}

/** A task in the words of 2025-11-25. */
export interface RequestedTask {
  taskId: string;
  status: TaskStatus;
  statusMessage?: string;
  createdAt: string;
  lastUpdatedAt: string;
  ttl: number | null;
  pollInterval?: number;
}

/** Whether a status is one that a task never leaves. */
export function isOver({ status }: { status: TaskStatus }): boolean {
  return status === "completed" || status === "failed" || status === "cancelled";
}
