import type { Tool as ListedTool } from "../../../mcp/tools.ts";
import { refuseStore } from "../../../store/server-store.ts";

/** How long a task is kept, and how often clients should poll it. */
export interface TaskTiming {
  /** Milliseconds from its creation for which the task and its result are kept. Default: 1 day. */
  ttlMs?: number;
  /** Milliseconds between two polls of a client. Default: 1,000. */
  pollIntervalMs?: number;
}

/** Options of the tasks extension of a server. */
export interface TasksOptions extends TaskTiming {
  /** Maximum `ttlMs` of a task, also for clients of 2025-11-25, which can request one. Default: 7 days. */
  maxTtlMs?: number;
  /** Milliseconds after which a process that does not renew its lease counts as dead; others take over its tasks. Default: 30,000. */
  lease?: number;
  /** Maximum number of tasks that run in this process. Default: 1,000. */
  maxRunning?: number;
  /** Maximum number of these that belong to one authenticated caller. Default: 100. */
  maxRunningPerCaller?: number;
  /**
   * Whether anonymous callers can use `tasks/list`, which only 2025-11-25 has. It shows the tasks of all anonymous callers, so
   * set it only for a single user, as on stdio. Default: false.
   */
  listForAnyone?: boolean;
}

export type TaskDefaults = Required<TasksOptions>;

const day = 86_400_000;

/** Checks the options and adds the defaults. Throws `TypeError`, with the name of the option, for a wrong value. */
export function readOptions(options: TasksOptions): TaskDefaults {
  refuseStore(options, "tasks");
  const defaults = {
    ttlMs: day,
    pollIntervalMs: 1000,
    maxTtlMs: 7 * day,
    lease: 30_000,
    maxRunning: 1000,
    maxRunningPerCaller: 100,
    listForAnyone: false,
    ...options,
  };
  checkMilliseconds(defaults, ["ttlMs", "pollIntervalMs", "maxTtlMs", "lease", "maxRunning", "maxRunningPerCaller"]);
  return defaults;
}

/** Throws for a member that is there and not a positive integer. */
export function checkMilliseconds(given: object, names: readonly string[]): void {
  for (const name of names) {
    const value = (given as Record<string, unknown>)[name];
    if (value === undefined || (Number.isSafeInteger(value) && (value as number) > 0)) continue;
    throw new TypeError(`${name} must be a positive integer; got ${JSON.stringify(value)}.`);
  }
}

/** How a tool uses tasks. */
export interface ToolTasks extends TaskTiming {
  /**
   * `optional`: the tool is a task for clients that know tasks, and an ordinary call for others. `required`: clients
   * that do not know tasks are refused. `optional` unless given.
   */
  support?: "optional" | "required";
  /**
   * `before`: each call is a task before the handler runs. `handler`: the handler decides, with `continueAsTask`.
   * `before` unless given. A client of 2025-11-25 decides itself, and then it is a task before the handler runs.
   */
  start?: "before" | "handler";
  /**
   * Whether the handler may run again, from the top, after the process that ran it has died. What it was answered and
   * what `ctx.once` recorded is there again. False unless given: the task has failed then.
   */
  runAgain?: boolean;
}

/** A tool as 2025-11-25 lists it. */
export interface ToolWithExecution extends ListedTool {
  execution?: { taskSupport?: "forbidden" | "optional" | "required" };
}
