import type { Tool as ListedTool } from "../../../mcp/tools.ts";
import { checkNames } from "../../../server/checks/known-members.ts";
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
  /** Maximum number of running tasks of one authenticated caller in this process. Default: 100. */
  maxRunningPerCaller?: number;
  /**
   * Whether anonymous callers can use `tasks/list`, which only 2025-11-25 has. It shows the tasks of all anonymous callers, so
   * set it only for a single user, as on stdio. Default: false.
   */
  listForAnyone?: boolean;
}

export type TaskDefaults = Required<TasksOptions>;

/** How a tool uses tasks. */
export interface ToolTasks extends TaskTiming {
  /**
   * `optional`: a call is a task if the client supports tasks, and an ordinary call otherwise. `required`: calls of clients
   * that do not support tasks are rejected. Default: `optional`.
   */
  support?: "optional" | "required";
  /**
   * `before`: each call becomes a task before the handler runs. `handler`: the handler calls `continueAsTask` to make its
   * call a task. Clients of 2025-11-25 decide themselves; their tasks always start before the handler. Default: `before`.
   */
  start?: "before" | "handler";
  /**
   * Whether the handler may run again, from the top, if its process has died. Input responses and the values of `ctx.once`
   * are available again. If false, the task fails. Default: false.
   */
  runAgain?: boolean;
}

/** A tool in `tools/list` of 2025-11-25. */
export interface ToolWithExecution extends ListedTool {
  execution?: { taskSupport?: "forbidden" | "optional" | "required" };
}

const day = 86_400_000;

const timing = "ttlMs pollIntervalMs";

/** Throws `TypeError`, with the name of the setting, for one that is unknown or invalid. */
export function checkTaskSettings(
  settings: ToolTasks & { required?: boolean },
  caller: "asTask" | "continueAsTask",
): void {
  checkNames(
    `${timing} ${caller === "asTask" ? "support start runAgain:boolean" : "required:boolean"}`,
    settings,
    caller,
  );
  checkPositive(settings, ["ttlMs", "pollIntervalMs"]);
}

/** Checks the options and adds the defaults. Throws `TypeError`, with the name of the option, for an invalid value. */
export function readOptions(options: TasksOptions): TaskDefaults {
  refuseStore(options, "tasks");
  checkNames(`${timing} maxTtlMs lease maxRunning maxRunningPerCaller listForAnyone:boolean`, options, "tasks");
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
  checkPositive(defaults, ["ttlMs", "pollIntervalMs", "maxTtlMs", "lease", "maxRunning", "maxRunningPerCaller"]);
  return defaults;
}

/** Throws `TypeError` if one of the members is present and not a positive integer. */
function checkPositive<K extends string>(settings: { readonly [name in K]?: unknown }, names: readonly K[]): void {
  for (const name of names) {
    const value = settings[name];
    if (value === undefined || isPositiveInteger(value)) continue;
    throw new TypeError(`${name} must be a positive integer; got ${JSON.stringify(value)}.`);
  }
}

export function isPositiveInteger(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0;
}
