import { asTask, continueAsTask, followTasks, tasks, tasksOf } from "mcparley/tasks";

export const extension = tasks();
export const part = asTask();
export const proceed = (...given: Parameters<typeof continueAsTask>) => continueAsTask(...given);
export const follow = followTasks();
export const host = (...given: Parameters<typeof tasksOf>) => tasksOf(...given);
