import { onAbort } from "./abort.ts";
import { type Clock, startLimit, systemClock } from "./clock.ts";
import { LocalError, ProtocolError } from "./errors.ts";
import { type JsonObject, type JsonRpcResponse, type RequestId, Prepared, isFailure, isRequestId } from "./messages.ts";

/** The default of `idleTimeout` for requests of a client, in milliseconds. */
export const DEFAULT_IDLE_TIMEOUT = 60_000;

/** Time limits of one request, in milliseconds. `Infinity` is no limit. */
interface TimeLimits {
  /** Time without a response or progress after which the request fails. Default: no limit. */
  idleTimeout?: number | undefined;
  /** Time after which the request fails in spite of progress. Pauses do not count. Default: no limit. */
  totalTimeout?: number | undefined;
  /** The part of a limit that is left, if an earlier part of the operation has used some of it. Errors name the limit. */
  idleLeft?: number | undefined;
  totalLeft?: number | undefined;
}

/** Limits and callbacks of one request. */
export interface WaitOptions extends TimeLimits {
  /** Rejects the request with `aborted`. */
  signal?: AbortSignal | undefined;
  /** Called for each progress notification of this request, in order. */
  onProgress?: ((progress: JsonObject) => void) | undefined;
  /** Called with the duration of each pause in milliseconds, when it ends. */
  onPaused?: ((ms: number) => void) | undefined;
  /** Called once if the request times out or is aborted, to notify the peer. Not called after a response. */
  onAbandoned?: (reason: string) => void;
  /** Reads the result of the response. An error that it throws rejects the request. Default: the result is returned unchanged. */
  readResult?: ((result: JsonObject) => JsonObject) | undefined;
  /** The description of the request in error messages, such as its method. */
  what: string;
}

interface Waiting {
  readonly options: WaitOptions;
  resolve(result: JsonObject): void;
  reject(error: Error): void;
  /** The timer of the limit that ends first. */
  timer: unknown;
  /** The time at which the total limit ends. */
  totalEndsAt: number;
  /** The number of pauses at the same time. */
  pauses: number;
  /** The time of the first of them. */
  pausedAt: number;
  removeAbort: (() => void) | undefined;
}

/**
 * The requests of one side that have no response yet. Only this class settles requests.
 *
 * Each request settles exactly once: with its result, the peer's error, a timeout, the caller's signal, or the end of the
 * connection. A response without a request changes nothing, and `settle` returns false. Ids are compared exactly, so
 * `"1"` never settles `1`.
 */
export class PendingRequests {
  /** A fault of the peer, and the requests that it may concern: those with a smaller id. */
  #fault: { readonly text: string; readonly nextId: number } | undefined;
  readonly #waiting = new Map<RequestId, Waiting>();
  readonly #clock: Clock;
  #nextId = 0;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  /** The number of requests without a response. */
  get size(): number {
    return this.#waiting.size;
  }

  /**
   * Notes a fault of the peer, such as a line that is not JSON. The errors of requests that wait for a response name it. Of several faults
   * it is the first one, or the last response with a wrong id.
   */
  noteFault(text: string, isWrongId: boolean = false): void {
    const [oldestId] = this.#waiting.keys();
    const concernsOldest = this.#fault !== undefined && Number(oldestId) < this.#fault.nextId;
    if (concernsOldest && !isWrongId) return;
    this.#fault = { text, nextId: this.#nextId };
  }

  /** Returns an unused id. It is also the progress token of its request. */
  nextId(): number {
    return this.#nextId++;
  }

  /** Returns the result of the response to `id`. Send the request after this call, so that its response is not missed. */
  wait(id: RequestId, options: WaitOptions): Promise<JsonObject> {
    return new Promise((resolve, reject) => {
      const { signal } = options;
      if (signal?.aborted) {
        reject(cancelledByCaller(options.what, signal));
        return;
      }
      const waiting: Waiting = {
        options,
        resolve,
        reject,
        timer: undefined,
        totalEndsAt: this.#clock.now() + (options.totalLeft ?? options.totalTimeout ?? Infinity),
        pauses: 0,
        pausedAt: 0,
        removeAbort: undefined,
      };
      this.#waiting.set(id, waiting);
      this.#startTimer(id, waiting);
      if (signal)
        waiting.removeAbort = onAbort(signal, () => this.#abandon(id, cancelledByCaller(options.what, signal)));
    });
  }

  /** Settles the request of a response. Returns false if the response is unknown, late or a duplicate. */
  settle(response: JsonRpcResponse): boolean {
    const { id } = response;
    const waiting = id === undefined ? undefined : this.#take(id);
    if (!waiting) return false;
    if (isFailure(response)) waiting.reject(ProtocolError.from(response.error));
    else {
      const result = response.result instanceof Prepared ? response.result.value : response.result;
      try {
        waiting.resolve(waiting.options.readResult?.(result) ?? result);
      } catch (error) {
        waiting.reject(error as Error);
      }
    }
    return true;
  }

  /**
   * Rejects one request with a local error. Returns false if it has settled already. With `namesFault` the message also has the fault of
   * the peer since the request was made.
   */
  fail(id: RequestId, error: Error, namesFault: boolean = false): boolean {
    const waiting = this.#take(id);
    waiting?.reject(namesFault && error instanceof LocalError ? this.#withFault(id, error) : error);
    return waiting !== undefined;
  }

  /** Rejects all requests, for example after the end of the connection. */
  failAll(error: Error, namesFault: boolean = false): void {
    for (const id of this.#waiting.keys()) this.fail(id, error, namesFault);
  }

  #withFault(id: RequestId, error: LocalError): LocalError {
    const fault = this.#fault;
    if (!fault || typeof id !== "number" || id >= fault.nextId || error.message.endsWith(fault.text)) return error;
    return new LocalError(error.code, `${error.message} ${fault.text}`, { cause: error.cause, data: error.data });
  }

  /** Passes progress to its request and restarts the idle limit. Returns false if no request has this token. */
  progress(token: unknown, params: JsonObject): boolean {
    if (!isRequestId(token)) return false;
    const waiting = this.#waiting.get(token);
    if (!waiting) return false;
    if (waiting.pauses === 0) this.#startTimer(token, waiting);
    waiting.options.onProgress?.(params);
    return true;
  }

  /** Stops the time limits of a request that waits for a user. The returned function starts them again. */
  pause(id: RequestId): () => void {
    const waiting = this.#waiting.get(id);
    if (!waiting) return () => {};
    if (waiting.pauses++ === 0) {
      waiting.pausedAt = this.#clock.now();
      this.#clearTimer(waiting);
    }
    let isResumed = false;
    return () => {
      if (isResumed || this.#waiting.get(id) !== waiting) return;
      isResumed = true;
      if (--waiting.pauses > 0) return;
      const ms = this.#clock.now() - waiting.pausedAt;
      waiting.totalEndsAt += ms;
      waiting.options.onPaused?.(ms);
      this.#startTimer(id, waiting);
    };
  }

  /** Stops the time limits of all requests, if it is unknown which of them waits for a user. */
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
    this.#clearTimer(waiting);
    waiting.removeAbort?.();
    return waiting;
  }

  #abandon(id: RequestId, error: LocalError): void {
    const waiting = this.#take(id);
    if (!waiting) return;
    waiting.options.onAbandoned?.(error.message);
    waiting.reject(error);
  }

  /** Starts the idle limit again. A request has one timer, for the limit that ends first. */
  #startTimer(id: RequestId, waiting: Waiting): void {
    this.#clearTimer(waiting);
    const { what, idleTimeout = Infinity, idleLeft = idleTimeout, totalTimeout } = waiting.options;
    const totalLeft = Math.max(0, waiting.totalEndsAt - this.#clock.now());
    const isTotal = totalLeft < idleLeft;
    const expire = (): void => {
      const limit = isTotal ? `${totalTimeout} ms in total` : `${idleTimeout} ms, and no progress was reported`;
      this.#abandon(id, this.#withFault(id, new LocalError("timeout", `${what} was not answered within ${limit}.`)));
    };
    waiting.timer = startLimit(this.#clock, expire, isTotal ? totalLeft : idleLeft);
  }

  #clearTimer(waiting: Waiting): void {
    if (waiting.timer !== undefined) this.#clock.clearTimeout(waiting.timer);
    waiting.timer = undefined;
  }
}

function cancelledByCaller(what: string, signal: AbortSignal): LocalError {
  return new LocalError("aborted", `${what} was cancelled by the caller.`, { cause: signal.reason });
}
