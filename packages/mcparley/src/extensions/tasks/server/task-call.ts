import { ErrorCode } from "../../../mcp/errors.ts";
import { LocalError, ProtocolError, invalidParams } from "../../../rpc/errors.ts";
import { type JsonObject, Prepared, isObject } from "../../../rpc/messages.ts";
import type { Call } from "../../../server/core/call.ts";
import { type ToolExtension, declaresExtension, requireExtension } from "../../../server/core/extension.ts";
import { InputRequired } from "../../../server/core/input-required.ts";
import { relatedTask, taskType, tasksId } from "../task.ts";
import type { Runner } from "./runner.ts";
import { type TaskTiming, type ToolTasks, isPositiveInteger } from "./settings.ts";
import { toRequestedTask, toTask } from "./stored-task.ts";
import type { TaskRun } from "./task-run.ts";
import { notifySession } from "./watching.ts";

/** The extension of a tool that is a task. */
export interface TaskTool extends ToolExtension {
  readonly tasks: ToolTasks;
}

/** A call of a tool that may become a task: by `asTask`, by `continueAsTask`, or because its client requests it. */
export class TaskCall {
  readonly #call: Call;
  readonly #runner: Runner;
  /** Resolves with the response that contains the task, once the task is created. */
  readonly #taskReply: Promise<JsonObject>;
  #resolveTaskReply!: (response: JsonObject) => void;
  #creating: Promise<TaskRun> | undefined;
  #run: TaskRun | undefined;

  constructor(call: Call, runner: Runner) {
    this.#call = call;
    this.#runner = runner;
    this.#taskReply = new Promise((resolve) => {
      this.#resolveTaskReply = resolve;
    });
  }

  /** Returns the result of the call, or the task that the call became before its handler ended. */
  async answer(next: () => Promise<JsonObject>): Promise<JsonObject> {
    if (this.#isRerun) return next();
    this.#checkRequest();
    const ending = next().then(async (result) => {
      if (!this.#run || !(result instanceof InputRequired)) return result;
      const final = await this.#run.input.continueWith(result, next);
      return final instanceof Prepared ? final.value : final;
    });
    const end = ending.then(
      () => undefined,
      () => undefined,
    );
    const response = await Promise.race([this.#taskReply, end]);
    if (response) {
      this.#runner.finish(this.#call, this.#run!, ending);
      return response;
    }
    const result = await ending;
    if (!this.#isRequested || result instanceof InputRequired) return result;
    // The call ended before it became a task. A client that requested a task must receive one, which is over.
    this.#runner.finish(this.#call, await this.#create({}), ending);
    return this.#taskReply;
  }

  /** Creates the task of a tool with `asTask`, unless the handler decides. */
  async beforeHandler(settings: ToolTasks): Promise<void> {
    const { support, start } = settings;
    if (this.#isRerun) return;
    const { revision } = this.#call;
    if (this.#isRequested) await this.#create(settings);
    else if (revision.requestedTasks && support === "required") {
      const message = "This tool must be called as a task: send params.task.";
      throw new ProtocolError(ErrorCode.MethodNotFound, message);
    } else {
      if (support === "required") this.#requireSupport();
      if (start === "before" && this.#supportsTasks) await this.#create(settings);
    }
  }

  /** Creates the task for a handler that calls `continueAsTask`. Returns whether the call is a task. */
  async continueAsTask(settings: TaskTiming & { required?: boolean }): Promise<boolean> {
    if (this.#isRerun) return true;
    if (this.#creating) return (await this.#creating) !== undefined;
    if (settings.required) this.#requireSupport();
    if (!this.#supportsTasks) return false;
    const toolExtension = this.#toolExtensions?.find(isTaskTool);
    await this.#create({ ...toolExtension?.tasks, ...settings });
    return true;
  }

  /** Whether the call is a later run of a task. Its client has received the task already. */
  get #isRerun(): boolean {
    return this.#runner.isRerun(this.#call);
  }

  /** Whether the client requests a task. Only 2025-11-25 has this param; other revisions ignore it. */
  get #isRequested(): boolean {
    return this.#call.revision.requestedTasks && this.#call.params.task !== undefined;
  }

  /** Whether the server may make the call a task. Legacy revisions do not have the extension. */
  get #supportsTasks(): boolean {
    return this.#call.session === undefined && declaresExtension(this.#call, tasksId);
  }

  /** The extensions of the called tool. Undefined if the tool does not exist. */
  get #toolExtensions(): readonly ToolExtension[] | undefined {
    const { core, params } = this.#call;
    const tool = typeof params.name === "string" ? core.offering.tools.get(params.name) : undefined;
    return tool && (tool.extensions ?? []);
  }

  /** Rejects an invalid request of a task, and one for a tool that cannot be a task (2025-11-25, Tool-Level Negotiation). */
  #checkRequest(): void {
    if (!this.#isRequested) return;
    const { name, task } = this.#call.params;
    if (!isObject(task)) throw invalidParams("params.task must be an object");
    if (task.ttl !== undefined && task.ttl !== null && !isPositiveInteger(task.ttl)) {
      throw invalidParams("params.task.ttl must be a positive integer: milliseconds");
    }
    const extensions = this.#toolExtensions;
    // A tool that does not exist is reported by the call itself.
    if (!extensions || extensions.some(isTaskTool)) return;
    const message = `The tool ${String(name).slice(0, 200)} cannot be called as a task.`;
    throw new ProtocolError(ErrorCode.MethodNotFound, message);
  }

  #requireSupport(): void {
    if (this.#call.session === undefined) return requireExtension(this.#call, tasksId);
    const message = "This tool can be called only as a task, and this client does not support tasks.";
    throw new ProtocolError(ErrorCode.InvalidRequest, message);
  }

  /** Creates the task, at most once. After a failure, the handler may try again. */
  #create(settings: ToolTasks): Promise<TaskRun> {
    this.#creating ??= this.#createOnce(settings).catch((error: unknown) => {
      this.#creating = undefined;
      throw error;
    });
    return this.#creating;
  }

  async #createOnce({ ttlMs, pollIntervalMs, runAgain }: ToolTasks): Promise<TaskRun> {
    const call = this.#call;
    const isRequested = this.#isRequested;
    const requestedTtl = isRequested && isObject(call.params.task) ? call.params.task.ttl : undefined;
    const run = await this.#runner.begin(call, {
      requested: isRequested,
      ...(ttlMs !== undefined && { ttlMs }),
      ...(typeof requestedTtl === "number" && { ttlMs: requestedTtl }),
      ...(pollIntervalMs !== undefined && { pollIntervalMs }),
      ...(runAgain !== undefined && { runAgain }),
    });
    const { record } = run;
    this.#run = run;
    this.#resolveTaskReply(
      record.requested
        ? { task: toRequestedTask(record), _meta: { [relatedTask]: { taskId: record.taskId } } }
        : { resultType: taskType, ...toTask(record) },
    );
    if (call.session) notifySession(this.#runner, record, call.session);
    return run;
  }
}

function isTaskTool(extension: ToolExtension): extension is TaskTool {
  return extension.id === tasksId;
}

/** The error if a tool must be a task, and its server does not have the extension. */
export function noTasks(): LocalError {
  const cure = "Add extensions: [tasks()] from mcparley/tasks to the server.";
  return new LocalError(
    "invalid_definition",
    `The tool must be a task, but the server does not support tasks. ${cure}`,
  );
}
