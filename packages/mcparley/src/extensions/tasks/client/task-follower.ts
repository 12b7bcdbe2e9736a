import type { FollowedRequest } from "../../../client/extension.ts";
import { pause } from "../../../rpc/abort.ts";
import { LocalError } from "../../../rpc/errors.ts";
import { type JsonObject, isObject } from "../../../rpc/messages.ts";
import { type DetailedTask, type Task, TaskMethod, type TaskStatus, isOver } from "../task.ts";

const statuses: readonly TaskStatus[] = ["working", "input_required", "completed", "failed", "cancelled"];

/** Milliseconds between two reads of a task, if the server suggests none. */
const defaultInterval = 1000;
const shortestInterval = 50;
/** Longer suggestions of a server are probably mistakes. */
const longestInterval = 300_000;

/** Maximum number of failures in a row because the server was unavailable. */
const maxFailures = 5;
/** Milliseconds before the first retry. It doubles with each further retry. */
const firstPause = 250;

/** Checks a task from a server. A task that the caller only knows by its id gets the status `working`. */
export function readTask(received: JsonObject, what: string): DetailedTask {
  const { taskId, status = "working" } = received;
  if (typeof taskId !== "string" || taskId === "") throw malformed(what, "has no taskId");
  if (!statuses.includes(status as TaskStatus)) {
    throw malformed(what, `has the unknown status ${JSON.stringify(status)}`);
  }
  const { resultType: _, _meta: __, ...task } = received;
  return { ...task, status } as unknown as DetailedTask;
}

/** Converts a task of 2025-11-25 to the form of the extension. */
export function fromRequested(received: JsonObject): JsonObject {
  const { ttl, pollInterval, ...task } = received;
  return {
    ...task,
    ...(ttl !== undefined && { ttlMs: ttl }),
    ...(pollInterval !== undefined && { pollIntervalMs: pollInterval }),
  };
}

/** Reads one task until it is over, and answers its input requests (SEP-2663, Task Polling). Cancels it if the caller aborts. */
export function followTask(
  request: FollowedRequest,
  created: DetailedTask,
  see: (task: Task) => void,
): Promise<DetailedTask> {
  const { signal, what } = request;
  const { taskId } = created;
  // A server may list an input request again before it has processed the response.
  const answered = new Set<string>();
  let unsent: JsonObject | undefined;

  async function sendResponses(): Promise<void> {
    if (!unsent) return;
    await request.send(TaskMethod.update, { taskId, inputResponses: unsent }, { signal });
    unsent = undefined;
  }

  return poll(request, created, {
    see,
    async read() {
      await sendResponses();
      const received = await request.send(TaskMethod.get, { taskId }, { signal });
      return readTask({ ...received, taskId }, what);
    },
    async outcome(task, patience) {
      if (isOver(task)) return task;
      if (task.status !== "input_required") return undefined;
      const { inputRequests } = task as { inputRequests?: unknown };
      if (!isObject(inputRequests)) {
        throw new LocalError("invalid_message", `The task of ${what} needs input, but has no input requests.`);
      }
      const open = Object.entries(inputRequests).filter(([key]) => !answered.has(key));
      if (open.length === 0) return undefined;
      for (const [key] of open) answered.add(key);
      unsent = await patience.pausing(() => request.answer(Object.fromEntries(open)));
      await patience.keep(sendResponses);
      return undefined;
    },
  });
}

/**
 * Follows a task of a server of 2025-11-25. When the task is over or needs input, requests its result: the server sends
 * its own requests to the client during that request.
 */
export function followRequested(
  request: FollowedRequest,
  received: JsonObject,
  see: (task: Task) => void,
): Promise<JsonObject> {
  const { send, signal, what } = request;
  const created = readTask(fromRequested(received), what);
  const { taskId } = created;
  see(created);
  return poll(request, created, {
    see,
    async read() {
      const received = await send(TaskMethod.get, { taskId }, { signal });
      return readTask({ ...fromRequested(received), taskId }, what);
    },
    async outcome(task) {
      if (!isOver(task) && task.status !== "input_required") return undefined;
      try {
        return await send(TaskMethod.result, { taskId }, { signal });
      } catch (error) {
        // If the connection broke before the task was over, the task is read again.
        if (error instanceof LocalError && /^(timeout|closed|http)$/.test(error.code) && !signal.aborted) {
          return undefined;
        }
        throw error;
      }
    },
  });
}

interface Polling<T> {
  readonly see: (task: Task) => void;
  read(this: void): Promise<DetailedTask>;
  /** Returns undefined to read the task again later. */
  outcome(this: void, task: DetailedTask, patience: Patience): Promise<T | undefined>;
}

async function poll<T>(
  request: FollowedRequest,
  created: DetailedTask,
  { see, read, outcome }: Polling<T>,
): Promise<T> {
  const { clock, signal } = request;
  const patience = new Patience(request, created.taskId);
  let task = created;
  // A task of an earlier process, or one that does not start as `working`, is read at once.
  let wait = task.status === "working" && task.createdAt !== undefined;
  try {
    for (;;) {
      if (wait) await pause(clock, patience.within(intervalOf(task)), signal);
      wait = true;
      await patience.keep(async () => {
        task = await read();
        see(task);
      });
      const found = await outcome(task, patience);
      if (found) return found;
    }
  } catch (error) {
    // The caller does not wait for the reply.
    if (patience.isOver(error)) request.send(TaskMethod.cancel, { taskId: task.taskId }).catch(request.report);
    throw error;
  }
}

/** The time and the number of failures after which polling of a task stops. */
class Patience {
  readonly #request: FollowedRequest;
  readonly #taskId: string;
  #endsAt: number;
  #gaveUp = false;

  constructor(request: FollowedRequest, taskId: string) {
    this.#request = request;
    this.#taskId = taskId;
    this.#endsAt = request.clock.now() + request.left;
  }

  /** Limits a pause to the remaining time. Throws `timeout` if none is left. */
  within(ms: number): number {
    const left = this.#endsAt - this.#request.clock.now();
    if (left > 0) return Math.min(ms, left);
    this.#gaveUp = true;
    const message = `The task of ${this.#request.what} was not over within the time limit, and was cancelled.`;
    throw new LocalError("timeout", message, { data: { taskId: this.#taskId } });
  }

  /** Runs an action that is safe to repeat, and retries it if the server is unavailable. */
  async keep(run: () => Promise<void>): Promise<void> {
    const { clock, signal, what } = this.#request;
    for (let failures = 1; ; failures++) {
      try {
        return await run();
      } catch (error) {
        if (!isUnavailable(error) || signal.aborted) throw error;
        if (failures >= maxFailures) {
          const message = `The server of the task ${this.#taskId} of ${what} is unavailable; the task goes on. ${error.message}`;
          throw new LocalError(error.code, message, { cause: error, data: { taskId: this.#taskId } });
        }
        await pause(clock, this.within(firstPause * 2 ** failures), signal);
      }
    }
  }

  /** Runs an action of the user. Its time does not count. */
  async pausing<T>(run: () => Promise<T>): Promise<T> {
    const { clock } = this.#request;
    const since = clock.now();
    try {
      return await run();
    } catch (error) {
      this.#gaveUp = true;
      throw error;
    } finally {
      this.#endsAt += clock.now() - since;
    }
  }

  /** Returns whether an error means that the caller aborted. If not, the task is over or its server is unavailable. */
  isOver(error: unknown): boolean {
    return this.#gaveUp || (this.#request.signal.aborted && !(error instanceof LocalError && error.code === "closed"));
  }
}

function intervalOf({ pollIntervalMs }: { pollIntervalMs?: unknown }): number {
  const wanted = typeof pollIntervalMs === "number" && pollIntervalMs >= 0 ? pollIntervalMs : defaultInterval;
  return Math.min(Math.max(wanted, shortestInterval), longestInterval);
}

function isUnavailable(error: unknown): error is LocalError {
  return error instanceof LocalError && /^(timeout|closed|exited|unreachable|http|session_lost)$/.test(error.code);
}

function malformed(what: string, why: string): LocalError {
  return new LocalError("invalid_message", `${what} was answered with a task that ${why}.`);
}
