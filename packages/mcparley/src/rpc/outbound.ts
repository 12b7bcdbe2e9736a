import { type Clock, systemClock } from "./clock.ts";
import { LocalError, ProtocolError } from "./errors.ts";
import { type JsonObject, type JsonRpcResponse, type RequestId, Prepared, isFailure } from "./messages.ts";

export interface WaitOptions {
  /** Milliseconds without an answer or progress before the call fails. */
  idleTimeout?: number | undefined;
  /** Milliseconds in all, progress or not, not counting the time that `pause` covers. */
  totalTimeout?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Called for each progress notification of this request, in order. */
  onProgress?: ((progress: JsonObject) => void) | undefined;
  /** Told how many milliseconds the clocks stood still, each time that they go on. */
  onPaused?: ((ms: number) => void) | undefined;
  /** Called once when the request is given up here, so that the peer can be told. Not called when it was answered. */
  onAbandoned?: (reason: string) => void;
  /** What the request is, for error messages: `tools/call "add"`. */
  what: string;
}

interface Waiting {
  readonly options: WaitOptions;
  resolve(result: JsonObject): void;
  reject(error: Error): void;
  idleTimer: unknown;
  totalTimer: unknown;
  /** When the total limit ends, and how much of it was left when the clock was stopped. */
  totalEndsAt: number;
  totalLeft: number;
  paused: number;
  pausedAt: number;
  removeAbort: (() => void) | undefined;
}

/**
 * The requests that one side has sent and that are not answered yet: the one place where a call is settled.
 *
 * Each call settles exactly once: with its result, the peer's error, a timeout, the caller's signal, or the end of the
 * connection. A response that matches nothing is reported to the caller of `settle` and changes nothing; ids are
 * compared exactly, so `"1"` never settles `1`.
 */
export class Outbound {
  readonly #waiting = new Map<RequestId, Waiting>();
  readonly #clock: Clock;
  #nextId = 0;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  /** How many calls wait for an answer. */
  get size(): number {
    return this.#waiting.size;
  }

  /** A fresh id, never used before by this table. It also serves as the progress token of its request. */
  nextId(): number {
    return this.#nextId++;
  }

  /** Begins to wait for the answer to `id`. The request must be sent after this, so that no answer can be missed. */
  wait(id: RequestId, options: WaitOptions): Promise<JsonObject> {
    return new Promise((resolve, reject) => {
      const { signal } = options;
      if (signal?.aborted) {
        reject(aborted(options.what, signal));
        return;
      }
      const waiting: Waiting = {
        options,
        resolve,
        reject,
        idleTimer: undefined,
        totalTimer: undefined,
        totalEndsAt: 0,
        totalLeft: options.totalTimeout ?? 0,
        paused: 0,
        pausedAt: 0,
        removeAbort: undefined,
      };
      this.#waiting.set(id, waiting);
      this.#startTimers(id, waiting);
      if (signal) {
        const onAbort = (): void => this.#abandon(id, aborted(options.what, signal));
        signal.addEventListener("abort", onAbort, { once: true });
        waiting.removeAbort = () => signal.removeEventListener("abort", onAbort);
      }
    });
  }

  /** Settles the call that the response answers. Returns false where there is none: unknown, late or answered before. */
  settle(response: JsonRpcResponse): boolean {
    const { id } = response;
    const waiting = id === undefined ? undefined : this.#take(id);
    if (!waiting) return false;
    if (isFailure(response)) waiting.reject(ProtocolError.from(response.error));
    else waiting.resolve(response.result instanceof Prepared ? response.result.value : response.result);
    return true;
  }

  /** Fails one call with an error of this side. Returns false where it does not wait any more. */
  fail(id: RequestId, error: Error): boolean {
    const waiting = this.#take(id);
    waiting?.reject(error);
    return waiting !== undefined;
  }

  /** Fails every call, as when the connection is gone. */
  failAll(error: Error): void {
    for (const id of this.#waiting.keys()) this.fail(id, error);
  }

  /** Hands progress to its call and starts the call's idle limit anew. Returns false where no call has this token. */
  progress(token: unknown, params: JsonObject): boolean {
    const waiting = this.#waiting.get(token as RequestId);
    if (!waiting) return false;
    if (waiting.paused === 0) this.#restartIdle(token as RequestId, waiting);
    waiting.options.onProgress?.(params);
    return true;
  }

  /** Stops the clocks of a call while a person is being asked; the function it returns starts them again. */
  pause(id: RequestId): () => void {
    const waiting = this.#waiting.get(id);
    if (!waiting) return () => {};
    if (waiting.paused++ === 0) {
      waiting.pausedAt = this.#clock.now();
      waiting.totalLeft = Math.max(0, waiting.totalEndsAt - waiting.pausedAt);
      this.#clearTimers(waiting);
    }
    let resumed = false;
    return () => {
      if (resumed || this.#waiting.get(id) !== waiting) return;
      resumed = true;
      if (--waiting.paused > 0) return;
      waiting.options.onPaused?.(this.#clock.now() - waiting.pausedAt);
      this.#startTimers(id, waiting);
    };
  }

  /** Stops the clocks of every call, as when it cannot be told for which call a person is being asked. */
  pauseAll(): () => void {
    const resumes = [...this.#waiting.keys()].map((id) => this.pause(id));
    return () => {
      for (const resume of resumes) resume();
    };
  }

  #take(id: RequestId): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    if (!waiting) return undefined;
    this.#waiting.delete(id);
    this.#clearTimers(waiting);
    waiting.removeAbort?.();
    return waiting;
  }

  #abandon(id: RequestId, error: LocalError): void {
    const waiting = this.#take(id);
    if (!waiting) return;
    waiting.options.onAbandoned?.(error.message);
    waiting.reject(error);
  }

  #startTimers(id: RequestId, waiting: Waiting): void {
    this.#restartIdle(id, waiting);
    const { what, totalTimeout } = waiting.options;
    if (totalTimeout === undefined) return;
    waiting.totalEndsAt = this.#clock.now() + waiting.totalLeft;
    waiting.totalTimer = this.#clock.setTimeout(() => {
      const limit = `${totalTimeout} ms in all`;
      this.#abandon(id, new LocalError("timeout", `${what} was not answered within ${limit}.`));
    }, waiting.totalLeft);
  }

  #restartIdle(id: RequestId, waiting: Waiting): void {
    const { what, idleTimeout } = waiting.options;
    if (idleTimeout === undefined) return;
    if (waiting.idleTimer !== undefined) this.#clock.clearTimeout(waiting.idleTimer);
    waiting.idleTimer = this.#clock.setTimeout(() => {
      const limit = `${idleTimeout} ms, and no progress was reported`;
      this.#abandon(id, new LocalError("timeout", `${what} was not answered within ${limit}.`));
    }, idleTimeout);
  }

  #clearTimers(waiting: Waiting): void {
    if (waiting.idleTimer !== undefined) this.#clock.clearTimeout(waiting.idleTimer);
    if (waiting.totalTimer !== undefined) this.#clock.clearTimeout(waiting.totalTimer);
    waiting.idleTimer = undefined;
    waiting.totalTimer = undefined;
  }
}

function aborted(what: string, signal: AbortSignal): LocalError {
  return new LocalError("aborted", `${what} was cancelled by the caller.`, { cause: signal.reason });
}
