import type { Tool as ListedTool } from "../../../mcp/tools.ts";
import { refuseStore } from "../../../store/server-store.ts";

/** How long a task is kept, and how often to look at it. */
export interface TaskTiming {
  /** Milliseconds, from its creation on, for which the task and its result are kept. */
  ttlMs?: number;
  /** Milliseconds that clients are asked to wait between two looks. */
  pollIntervalMs?: number;
}

export interface TasksOptions extends TaskTiming {
  /** The longest `ttlMs` of any task; clients of 2025-11-25 may ask for one. 7 days. */
  maxTtlMs?: number;
  /** Milliseconds after which a process that is silent counts as dead, and its tasks are looked after by others. 30 s. */
  lease?: number;
  /** Tasks that may run in this process at a time. 1,000. */
  maxRunning?: number;
  /** Of these, how many may belong to one caller who is known. 100. */
  maxRunningPerCaller?: number;
  /**
   * Whether `tasks/list`, which only 2025-11-25 has, is there for callers who are not known: it shows them all tasks of
   * such callers. False unless given; true is right where there is a single user, as on stdio.
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
