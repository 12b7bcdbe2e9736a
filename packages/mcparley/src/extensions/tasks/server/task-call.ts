import { LocalError, ProtocolError, invalidParams } from "../../../rpc/errors.ts";
import { ErrorCode } from "../../../mcp/errors.ts";
import { type JsonObject, isObject } from "../../../rpc/messages.ts";
import { Method } from "../../../mcp/methods.ts";
import type { Call } from "../../../server/dispatch/call.ts";
import type { Context } from "../../../server/dispatch/context.ts";
import { type ToolExtension, declaresExtension, requireExtension } from "../../../server/extension.ts";
import { InputRequired } from "../../../server/input/input-required.ts";
import { relatedTask, taskType, tasksId } from "../task.ts";
import { type TaskRecord, toRequestedTask, toTask } from "./record.ts";
import type { Runner } from "./runner.ts";
import { type TaskTiming, type ToolTasks, type ToolWithExecution, checkMilliseconds } from "./settings.ts";
import type { TaskRun } from "./task-run.ts";
import { followForSession } from "./watching.ts";

interface TaskTool extends ToolExtension {
  readonly tasks: ToolTasks;
}

/** The calls of tools on servers that have tasks. */
const beginnings = new WeakMap<object, Beginning>();

/**
 * Makes a tool a task: `tool({ extensions: [asTask()], call })`, on a server with `extensions: [tasks()]`.
 *
 * The call is answered with a task at once, and the handler goes on: it asks through the task, its progress is the task's
 * status message, and its signal is aborted when the task is cancelled. Throws `TypeError` for settings that are wrong.
 */
export function asTask(settings: ToolTasks = {}): ToolExtension {
  const { support = "optional", start = "before" } = settings;
  if (support !== "optional" && support !== "required") {
    throw new TypeError(`support must be "optional" or "required"; got ${JSON.stringify(support)}.`);
  }
  if (start !== "before" && start !== "handler") {
    throw new TypeError(`start must be "before" or "handler"; got ${JSON.stringify(start)}.`);
  }
  checkMilliseconds(settings, ["ttlMs", "pollIntervalMs"]);
  const extension: TaskTool = {
    id: tasksId,
    tasks: { ...settings, support, start },
    async beforeCall(call) {
      const beginning = beginnings.get(call);
      if (beginning) await beginning.beforeHandler(extension.tasks);
      else if (support === "required") throw noTasks();
    },
    list: (listed, { requestedTasks }): ToolWithExecution =>
      requestedTasks ? { ...listed, execution: { taskSupport: support } } : listed,
  };
  return extension;
}

/**
 * Lets the handler that calls it go on as a task, where its client knows tasks: the call is answered, and the handler
 * goes on in the background. Gives whether it does; a call that is a task already goes on as that.
 *
 * With `required`, a client that does not know tasks is refused instead.
 */
export async function continueAsTask(
  ctx: Context,
  settings: TaskTiming & { required?: boolean } = {},
): Promise<boolean> {
  checkMilliseconds(settings, ["ttlMs", "pollIntervalMs"]);
  const beginning = beginnings.get(ctx);
  if (beginning) return beginning.fromHandler(settings);
  if (settings.required) throw noTasks();
  return false;
}

/** Answers tool calls: with their result, or with the task that they have become in the meantime. */
export async function answerOrBegin(
  call: Call,
  next: () => Promise<JsonObject>,
  runnerOf: (call: Call) => Runner,
): Promise<JsonObject> {
  if (call.method !== Method.callTool) return next();
  const beginning = new Beginning(call, runnerOf(call));
  beginnings.set(call, beginning);
  if (beginning.isAlreadyTask) return next();
  beginning.checkRequest();
  return beginning.answer(next);
}

/** A call of a tool that may become a task. */
class Beginning {
  readonly #call: Call;
  readonly #runner: Runner;
  readonly #begun: Promise<JsonObject>;
  #tellBegun!: (answer: JsonObject) => void;
  #beginning: Promise<TaskRun> | undefined;
  #run: TaskRun | undefined;

  constructor(call: Call, runner: Runner) {
    this.#call = call;
    this.#runner = runner;
    this.#begun = new Promise((resolve) => {
      this.#tellBegun = resolve;
    });
  }

  /** Whether the call is a run of a task from its beginning, as nobody waits for its answer. */
  get isAlreadyTask(): boolean {
    return this.#runner.isRunAgain(this.#call);
  }

  /** Refuses what asks for a task and cannot have one (2025-11-25, Tool-Level Negotiation). */
  checkRequest(): void {
    if (!this.#isRequested) return;
    const { name, task } = this.#call.params;
    if (!isObject(task)) throw invalidParams("params.task must be an object");
    const { ttl } = task;
    if (ttl !== undefined && ttl !== null && !(Number.isSafeInteger(ttl) && (ttl as number) > 0)) {
      throw invalidParams("params.task.ttl must be a positive integer: milliseconds");
    }
    const tool = this.#call.core.offering.tools.get(name as string);
    if (!tool || tool.extensions?.some(({ id }) => id === tasksId)) return;
    const message = `The tool ${String(name).slice(0, 200)} cannot be called as a task.`;
    throw new ProtocolError(ErrorCode.MethodNotFound, message);
  }

  async answer(next: () => Promise<JsonObject>): Promise<JsonObject> {
    const ending = next().then((result) =>
      this.#run && result instanceof InputRequired
        ? (this.#run.asking.goOn(result, next) as Promise<JsonObject>)
        : result,
    );
    const ended = ending.then(
      () => undefined,
      () => undefined,
    );
    const answer = await Promise.race([this.#begun, ended]);
    if (answer) {
      void this.#runner.finish(this.#call, this.#run!, ending);
      return answer;
    }
    const result = await ending;
    if (!this.#isRequested || result instanceof InputRequired) return result;
    // It ended before its handler: whoever asked for a task gets one all the same, which is over.
    void this.#runner.finish(this.#call, await this.#begin({}), ending);
    return this.#begun;
  }

  async beforeHandler(settings: ToolTasks): Promise<void> {
    const { support, start } = settings;
    if (this.isAlreadyTask) return;
    const { revision } = this.#call;
    if (this.#isRequested) await this.#begin(settings);
    else if (revision.requestedTasks && support === "required") {
      const message = "This tool must be called as a task: send params.task.";
      throw new ProtocolError(ErrorCode.MethodNotFound, message);
    } else {
      if (support === "required") this.#require();
      if (start === "before" && this.#knowsTasks) await this.#begin(settings);
    }
  }

  async fromHandler(settings: TaskTiming & { required?: boolean }): Promise<boolean> {
    if (this.isAlreadyTask || this.#beginning) return true;
    if (settings.required) this.#require();
    if (!this.#knowsTasks) return false;
    const tool = this.#call.core.offering.tools.get(this.#call.params.name as string);
    const own = tool?.extensions?.find(({ id }) => id === tasksId) as TaskTool | undefined;
    await this.#begin({ ...own?.tasks, ...settings });
    return true;
  }

  /** Whether the client asked for a task, in a revision in which clients do. Elsewhere the param means nothing. */
  get #isRequested(): boolean {
    return this.#call.revision.requestedTasks && this.#call.params.task !== undefined;
  }

  /** Whether the server may decide that this is a task. Under legacy revisions the identifier means nothing. */
  get #knowsTasks(): boolean {
    return this.#call.session === undefined && declaresExtension(this.#call, tasksId);
  }

  #require(): void {
    if (this.#call.session === undefined) return requireExtension(this.#call, tasksId);
    const message = "This tool runs as a task alone, which this client cannot follow.";
    throw new ProtocolError(ErrorCode.InvalidRequest, message);
  }

  #begin(settings: ToolTasks): Promise<TaskRun> {
    this.#beginning ??= this.#makeTask(settings);
    return this.#beginning;
  }

  async #makeTask(settings: ToolTasks): Promise<TaskRun> {
    const call = this.#call;
    const { ttlMs, pollIntervalMs, runAgain } = settings;
    const requested = this.#isRequested;
    const asked = requested ? ((call.params.task as JsonObject).ttl as number | null | undefined) : undefined;
    const { record, run } = await this.#runner.begin(call, {
      requested,
      ...(ttlMs !== undefined && { ttlMs }),
      ...(typeof asked === "number" && { ttlMs: asked }),
      ...(pollIntervalMs !== undefined && { pollIntervalMs }),
      ...(runAgain !== undefined && { runAgain }),
    });
    this.#run = run;
    this.#tellBegun(created(record));
    if (call.session) followForSession(this.#runner, record, call.session);
    return run;
  }
}

function created(record: TaskRecord): JsonObject {
  if (!record.requested) return { resultType: taskType, ...toTask(record) };
  return { task: toRequestedTask(record), _meta: { [relatedTask]: { taskId: record.taskId } } };
}

function noTasks(): LocalError {
  const cure = "Give the server extensions: [tasks()] of mcparley/tasks.";
  return new LocalError("invalid_definition", `A tool needs to be a task, and its server has none. ${cure}`);
}
