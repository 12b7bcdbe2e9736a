import { ErrorCode } from "../../../mcp/errors.ts";
import { ProtocolError } from "../../../rpc/errors.ts";
import type { TaskDefaults } from "./settings.ts";
import type { TaskRun } from "./task-run.ts";

/** The task that occupies a slot. */
interface Occupant {
  taskId: string;
  owner: string;
}

/**
 * The slots for the tasks that run in this process. A task occupies its slot before the first `await` of its start, so that
 * concurrent calls cannot exceed the limits.
 */
export class TaskSlots {
  readonly #limits: Pick<TaskDefaults, "maxRunning" | "maxRunningPerCaller">;
  readonly #runs = new Map<string, Promise<TaskRun | undefined>>();
  readonly #perOwner = new Map<string, number>();
  #isClosed = false;

  constructor(limits: Pick<TaskDefaults, "maxRunning" | "maxRunningPerCaller">) {
    this.#limits = limits;
  }

  /** Whether a task runs here, or starts. */
  has(taskId: string): boolean {
    return this.#runs.has(taskId);
  }

  taskIds(): Iterable<string> {
    return this.#runs.keys();
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Returns whether a caller may run one more task. */
  hasFree(owner: string): boolean {
    const { maxRunning, maxRunningPerCaller } = this.#limits;
    const ofOwner = owner === "" ? 0 : (this.#perOwner.get(owner) ?? 0);
    return this.#runs.size < maxRunning && ofOwner < maxRunningPerCaller;
  }

  /** Throws 503 if a caller may not run one more task. */
  requireFree(owner: string): void {
    if (this.hasFree(owner)) return;
    throw unavailable("Too many tasks are running. Wait for some of them to end, or cancel them.");
  }

  /** Throws 503 if the server is closing. */
  requireOpen(): void {
    if (this.#isClosed) throw unavailable("The server is closing and starts no more tasks. Try again later.");
  }

  /** Starts a run in a slot. The slot is free when the run is over, or when the start rejects or returns no run. */
  occupy<T extends TaskRun | undefined>(occupant: Occupant, start: () => Promise<T>): Promise<T> {
    const { taskId, owner } = occupant;
    const starting = start();
    this.#runs.set(taskId, starting);
    this.#count(owner, 1);
    const free = (): void => {
      this.#runs.delete(taskId);
      this.#count(owner, -1);
    };
    starting.then((run) => run?.ending).then(free, free);
    return starting;
  }

  /** Accepts no more runs, and stops those that run or start. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const stopping = [...this.#runs.values()].map(async (starting) => (await starting)?.stop());
    // The caller of a start that rejects receives the error.
    await Promise.allSettled(stopping);
  }

  #count(owner: string, change: number): void {
    const count = (this.#perOwner.get(owner) ?? 0) + change;
    if (count > 0) this.#perOwner.set(owner, count);
    else this.#perOwner.delete(owner);
  }
}

function unavailable(message: string): ProtocolError {
  return new ProtocolError(ErrorCode.InternalError, message, { data: { retryAfter: 1 }, status: 503 });
}
