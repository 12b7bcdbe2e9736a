/** Calls that go on after they were answered: the tasks extension, on servers and clients. */
export { asTask, continueAsTask } from "./extensions/tasks/server/beginning.ts";
export type { TaskTiming, TasksOptions, ToolTasks } from "./extensions/tasks/server/settings.ts";
export { tasks } from "./extensions/tasks/server/tasks.ts";
export type { SeenTask, Task, TaskStatus } from "./extensions/tasks/task.ts";
export { type FollowTasksOptions, followTasks } from "./extensions/tasks/client/follow-tasks.ts";
export { type ClientTasks, type Started, tasksOf } from "./extensions/tasks/client/tasks-of.ts";
