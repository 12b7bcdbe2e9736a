import type { Call } from "../../../server/dispatch/call.ts";
import type { ServerCore } from "../../../server/core.ts";
import type { ServerExtension } from "../../../server/extension.ts";
import { tasksId } from "../task.ts";
import { answerOrBegin } from "./beginning.ts";
import { taskMethods } from "./methods.ts";
import { Runner } from "./runner.ts";
import { type TasksOptions, readOptions } from "./settings.ts";
import { taskSubscriptions } from "./watching.ts";

/**
 * Adds tasks to a server: `createServer({ store, extensions: [tasks()] })`.
 *
 * Tools become tasks by `asTask`, or when their handler calls `continueAsTask`. Tasks are kept in the server's store; without
 * one, in the memory of the process. A task belongs to the caller who created it, and nobody else can see it. If the server
 * has no `auth`, its id, which cannot be guessed, is the only protection. Clients of 2025-11-25 are answered in the form of
 * that revision. Throws `TypeError` for invalid options.
 */
export function tasks(options: TasksOptions = {}): ServerExtension {
  const defaults = readOptions(options);
  const runners = new WeakMap<ServerCore, Runner>();
  const runnerOf = ({ core }: { core: ServerCore }): Runner => {
    const runner = runners.get(core) ?? new Runner(core, defaults);
    runners.set(core, runner);
    return runner;
  };
  const runnerOfCall = (call: Call): Runner => runnerOf(call);
  return {
    id: tasksId,
    legacyCapabilities({ revision, principal }) {
      if (!revision.requestedTasks) return {};
      const list = principal || defaults.listForAnyone ? { list: {} } : {};
      return { tasks: { ...list, cancel: {}, requests: { tools: { call: {} } } } };
    },
    methods: taskMethods(runnerOfCall),
    middleware(call, next) {
      // The first call of any kind is when a process begins to look after what others have left behind.
      runnerOf(call);
      return answerOrBegin(call, next, runnerOfCall);
    },
    subscribe: taskSubscriptions(runnerOfCall),
    close: (core) => runners.get(core)?.close(),
  };
}
