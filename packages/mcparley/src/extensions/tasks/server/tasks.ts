import { Method } from "../../../mcp/methods.ts";
import type { Call } from "../../../server/core/call.ts";
import type { Context } from "../../../server/core/context.ts";
import type { ServerCore } from "../../../server/core/server-core.ts";
import type { ServerExtension, ToolExtension } from "../../../server/core/extension.ts";
import { tasksId } from "../task.ts";
import { taskMethods } from "./methods.ts";
import { Runner } from "./runner.ts";
import {
  type TaskTiming,
  type TasksOptions,
  type ToolTasks,
  type ToolWithExecution,
  checkTaskSettings,
  readOptions,
} from "./settings.ts";
import { TaskCall, type TaskTool, noTasks } from "./task-call.ts";
import { subscribeTasks } from "./watching.ts";

/** The calls of tools on servers that have tasks. */
const taskCalls = new WeakMap<object, TaskCall>();

/**
 * Adds tasks to a server: `createServer({ store, extensions: [tasks()] })`.
 *
 * Tools become tasks by `asTask`, or when their handler calls `continueAsTask`. Tasks are kept in the server's store; without
 * one, in the memory of the process. A task belongs to the caller who created it, and nobody else can see it. If the server
 * has no `auth`, its id, which cannot be guessed, is the only protection. Clients of 2025-11-25 are answered in the form of
 * that revision. Throws `TypeError` for invalid options.
 *
 * Stage of the extension `io.modelcontextprotocol/tasks` on 2026-11-26: Beta. Breaking changes of its specification are
 * possible. They are rare, batched, and listed in its changelog. Before version 1.0, this library follows them in a minor
 * release.
 *
 * @example
 * ```ts
 * import { createServer, memoryStore, tool } from "mcparley/server";
 * import { asTask, tasks } from "mcparley/tasks";
 *
 * const index = tool({ extensions: [asTask()], call: async () => "Indexed 10,000 files." });
 * const server = createServer({
 *   name: "search",
 *   version: "1.0.0",
 *   tools: { index },
 *   store: memoryStore(),
 *   extensions: [tasks({ ttlMs: 3_600_000 })],
 * });
 * ```
 */
export function tasks(options: TasksOptions = {}): ServerExtension {
  const defaults = readOptions(options);
  const runners = new WeakMap<ServerCore, Runner>();
  function runnerOf({ core }: Call): Runner {
    const runner = runners.get(core) ?? new Runner(core, defaults);
    runners.set(core, runner);
    return runner;
  }
  return {
    id: tasksId,
    legacyCapabilities({ revision, principal }) {
      if (!revision.requestedTasks) return {};
      const list = principal || defaults.listForAnyone ? { list: {} } : {};
      return { tasks: { ...list, cancel: {}, requests: { tools: { call: {} } } } };
    },
    methods: taskMethods(runnerOf),
    middleware(call, next) {
      // The first request of any method creates the runner, because it also takes over the tasks of dead processes.
      const runner = runnerOf(call);
      if (call.method !== Method.callTool) return next();
      const taskCall = new TaskCall(call, runner);
      taskCalls.set(call, taskCall);
      return taskCall.answer(next);
    },
    subscribe: (filter, call, send) => subscribeTasks(runnerOf(call), { filter, call, send }),
    close: (core) => runners.get(core)?.close(),
  };
}

/**
 * Makes a tool a task: `tool({ extensions: [asTask()], call })`, on a server with `extensions: [tasks()]`.
 *
 * The client receives the task at once, and the handler runs in the background. The task contains its input requests, its
 * progress is the task's status message, and its signal is aborted if the task is cancelled. Throws `TypeError` for invalid
 * settings.
 *
 * @example
 * ```ts
 * import { tool } from "mcparley/server";
 * import { asTask } from "mcparley/tasks";
 *
 * const index = tool({
 *   description: "Indexes all files.",
 *   extensions: [asTask({ support: "required", pollIntervalMs: 5_000 })],
 *   call: async (_, ctx) => {
 *     ctx.progress({ progress: 1, total: 2, message: "Reading files" });
 *     return "Indexed 10,000 files.";
 *   },
 * });
 * ```
 */
export function asTask(settings: ToolTasks = {}): ToolExtension {
  checkTaskSettings(settings, "asTask");
  const { support = "optional", start = "before" } = settings;
  if (support !== "optional" && support !== "required") {
    throw new TypeError(`support must be "optional" or "required"; got ${JSON.stringify(support)}.`);
  }
  if (start !== "before" && start !== "handler") {
    throw new TypeError(`start must be "before" or "handler"; got ${JSON.stringify(start)}.`);
  }
  const extension: TaskTool = {
    id: tasksId,
    tasks: { ...settings, support, start },
    async beforeCall(call) {
      const taskCall = taskCalls.get(call);
      if (taskCall) await taskCall.beforeHandler(extension.tasks);
      else if (support === "required") throw noTasks();
    },
    list: (tool, { requestedTasks }): ToolWithExecution =>
      requestedTasks ? { ...tool, execution: { taskSupport: support } } : tool,
  };
  return extension;
}

/**
 * Makes the call of the handler a task, if the client supports tasks. The client receives the task at once, and the handler
 * continues in the background. Returns whether the call is a task.
 *
 * With `required`, the call is rejected if the client does not support tasks.
 *
 * @example
 * ```ts
 * import { tool } from "mcparley/server";
 * import { asTask, continueAsTask } from "mcparley/tasks";
 *
 * declare const cache: Map<string, string>;
 * declare function render(name: string): Promise<string>;
 *
 * const report = tool({
 *   extensions: [asTask({ start: "handler" })],
 *   call: async (_, ctx) => {
 *     const ready = cache.get("report");
 *     if (ready !== undefined) return ready;
 *     await continueAsTask(ctx);
 *     return render("report");
 *   },
 * });
 * ```
 */
export async function continueAsTask(
  ctx: Context,
  settings: TaskTiming & { required?: boolean } = {},
): Promise<boolean> {
  checkTaskSettings(settings, "continueAsTask");
  const taskCall = taskCalls.get(ctx);
  if (taskCall) return taskCall.continueAsTask(settings);
  if (settings.required) throw noTasks();
  return false;
}
