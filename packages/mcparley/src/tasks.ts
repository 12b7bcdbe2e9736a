/**
 * The tasks extension, for servers and clients: tool calls that return a task at once and continue in the background. Stage of
 * the extension on 2026-11-26: Beta.
 */
export type { Client } from "./client/client.ts";
export type { ClientExtension } from "./client/extension.ts";
export type { Subscription } from "./client/subscriptions/subscription.ts";
export type { CallToolResult } from "./mcp/tools.ts";
export type { Context } from "./server/core/context.ts";
export type { ServerExtension, ToolExtension } from "./server/core/extension.ts";
export { asTask, continueAsTask, tasks } from "./extensions/tasks/server/tasks.ts";
export type { TaskTiming, TasksOptions, ToolTasks } from "./extensions/tasks/server/settings.ts";
export type { TaskDetails, Task, TaskStatus } from "./extensions/tasks/task.ts";
export { type FollowTasksOptions, followTasks } from "./extensions/tasks/client/follow-tasks.ts";
export { type ClientTasks, type CallReply, tasksOf } from "./extensions/tasks/client/tasks-of.ts";
