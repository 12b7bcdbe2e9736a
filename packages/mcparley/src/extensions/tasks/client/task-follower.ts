import { pause } from "../../../rpc/abort.ts";
import type { FollowedRequest } from "../../../client/extension.ts";
import { LocalError } from "../../../rpc/errors.ts";
import { type JsonObject, isObject } from "../../../rpc/messages.ts";
import { type DetailedTask, type Task, TaskMethod, isOver } from "../task.ts";
import { intervalOf, readTask } from "./read-task.ts";
import { Patience } from "./patience.ts";

/** Looks at one task until it is over, and has its questions answered on the way (SEP-2663, Task Polling). */
export class TaskFollower {
  readonly #request: FollowedRequest;
  readonly #see: (task: Task) => void;
  readonly #patience: Patience;
  /** The questions that were answered: a server may show them again before it has taken the answer. */
  readonly #answered = new Set<string>();
  /** Answers that the server does not have yet. */
  #answers: JsonObject | undefined;
  #task: DetailedTask;

  constructor(request: FollowedRequest, task: DetailedTask, see: (task: Task) => void) {
    this.#request = request;
    this.#task = task;
    this.#see = see;
    this.#patience = new Patience(request, task.taskId);
  }

  /** Gives the task once it is over. Cancels it where the caller gives up. */
  async end(): Promise<DetailedTask> {
    // One that was kept, or is created in another status, is looked at right away.
    let wait = this.#task.status === "working" && this.#task.createdAt !== undefined;
    try {
      for (;;) {
        if (wait) await pause(this.#request.clock, this.#patience.within(intervalOf(this.#task)), this.#request.signal);
        wait = true;
        await this.#patience.keep(() => this.#look());
        if (isOver(this.#task)) return this.#task;
        await this.#answer();
      }
    } catch (error) {
      if (this.#patience.isOver(error)) this.#cancel();
      throw error;
    }
  }

  async #look(): Promise<void> {
    const { signal, what } = this.#request;
    await this.#sendAnswers();
    const said = await this.#request.send(TaskMethod.get, { taskId: this.#task.taskId }, { signal });
    this.#task = readTask({ ...said, taskId: this.#task.taskId }, what);
    this.#see(this.#task);
  }

  /** Asks what was not asked yet. */
  async #answer(): Promise<void> {
    if (this.#task.status !== "input_required") return;
    const { inputRequests } = this.#task;
    if (!isObject(inputRequests)) {
      throw new LocalError("invalid_message", `The task of ${this.#request.what} needs input, but does not say which.`);
    }
    const open = Object.entries(inputRequests).filter(([key]) => !this.#answered.has(key));
    if (open.length === 0) return;
    for (const [key] of open) this.#answered.add(key);
    this.#answers = await this.#patience.pausing(() => this.#request.answer(Object.fromEntries(open)));
    await this.#patience.keep(() => this.#sendAnswers());
  }

  async #sendAnswers(): Promise<void> {
    if (!this.#answers) return;
    const { signal } = this.#request;
    await this.#request.send(
      TaskMethod.update,
      { taskId: this.#task.taskId, inputResponses: this.#answers },
      { signal },
    );
    this.#answers = undefined;
  }

  /** That it is not wanted any more is said without waiting for what comes of it. */
  #cancel(): void {
    this.#request.send(TaskMethod.cancel, { taskId: this.#task.taskId }).catch(this.#request.report);
  }
}
