import { ToolError } from "../../../mcp/errors.ts";
import { ProtocolError } from "../../../rpc/errors.ts";
import type { JsonObject, Prepared } from "../../../rpc/messages.ts";
import type { Call } from "../../../server/core/call.ts";
import {
  type InputChannel,
  InvalidResponse,
  type ServerRequest,
  type Recorded,
  type Run,
  Unanswered,
  readResponse,
} from "../../../server/core/input-channel.ts";
import { capabilityFor, checkRequest, requestedNames, withRequested } from "../../../server/input/input-request.ts";
import { InputRequired } from "../../../server/core/input-required.ts";
import {
  type InputResponse,
  type TaskInputRequest,
  type TaskRecord,
  withInputRequests,
  withResponses,
} from "./stored-task.ts";

/** Maximum number of times that an input request is repeated after an invalid response, or a handler returns `inputRequired`. */
const maxRounds = 32;

/** An input request whose handler waits for the response. */
interface PendingRequest extends Omit<TaskInputRequest, "id" | "response"> {
  /** The timer of its time limit. */
  timer?: unknown;
  resolve(response: InputResponse): void;
  reject(error: unknown): void;
}

interface TaskInputInit {
  call: Call;
  record: TaskRecord;
  /** Number of input requests without a key that were sent before the task was created. */
  order: number;
  /**
   * Changes the task, unless it is over or has another run. Calls the function again if another process has changed the task,
   * or if the store was unavailable. In the second case, the first change may have been stored.
   */
  update: (change: (record: TaskRecord) => TaskRecord | undefined) => Promise<unknown>;
}

/**
 * Sends the input requests of a task's handler. They are stored with the task, and the handler waits until the client has
 * responded with `tasks/update` (SEP-2663, Task Update Requests).
 */
export class TaskInput implements InputChannel {
  inputResponses: JsonObject = {};
  requestState: string | undefined;
  readonly #init: TaskInputInit;
  /** The responses by key: from before the task was created, from earlier runs, and from this run. */
  readonly #responses: Map<string, InputResponse>;
  /** The finished and the running functions of `once`, by key. */
  readonly #onceValues: Map<string, unknown>;
  readonly #running = new Map<string, Promise<unknown>>();
  /** The stored requests that wait for a response, by id. */
  readonly #waiting = new Map<string, PendingRequest>();
  /** The requests of the current turn of the event loop, which are stored together at its end. */
  #turn: PendingRequest[] | undefined;
  /** The open requests of earlier runs: id to key. The client may respond before this run sends them again. */
  readonly #inheritedKeys = new Map<string, string>();
  #order: number;
  #endReason: Error | undefined;

  constructor(init: TaskInputInit) {
    const { record } = init;
    this.#init = init;
    this.#order = init.order;
    this.#onceValues = new Map(record.once);
    this.#responses = new Map(record.responses.map(([key, result]) => [key, { result }]));
    for (const { id, key, response } of record.inputRequests) {
      // Of several requests with the same key, the last one counts. The responses to the others were invalid.
      if (response) this.#responses.set(key, response);
      else {
        this.#responses.delete(key);
        this.#inheritedKeys.set(id, key);
      }
    }
  }

  async request<T>(request: ServerRequest<T>): Promise<T> {
    const { call } = this.#init;
    const key = request.key ?? `${request.method.split("/")[0]}-${++this.#order}`;
    checkRequest(call, request);
    for (let round = 0; ; round++) {
      const response = this.#responses.get(key) ?? (await this.#enqueue(key, request));
      this.#responses.set(key, response);
      if ("timedOut" in response) throw new Unanswered(request);
      if ("error" in response) throw ProtocolError.from(response.error);
      try {
        return await readResponse(request, response.result, call.core.limits);
      } catch (error) {
        if (!(error instanceof InvalidResponse)) throw error;
        if (round >= maxRounds) throw new ToolError(error.message, { cause: error });
        this.#responses.delete(key);
      }
    }
  }

  once<T>(key: string, fn: () => T | Promise<T>): Promise<T> {
    if (this.#onceValues.has(key)) return Promise.resolve(this.#onceValues.get(key) as T);
    const running = (this.#running.get(key) as Promise<T> | undefined) ?? this.#record(key, fn);
    this.#running.set(key, running);
    return running;
  }

  recorded(): Recorded {
    return { answers: [], once: [...this.#onceValues], order: this.#order };
  }

  async pendingResult(): Promise<undefined> {
    return undefined;
  }

  async continueWith(firstRequest: InputRequired, run: Run): Promise<JsonObject | Prepared> {
    let open = firstRequest;
    for (let round = 0; round < maxRounds; round++) {
      const requests = Object.entries(open.inputRequests).map(async ([name, { method, params = {} }]) => {
        const key = round === 0 ? name : `${name}-${round + 1}`;
        const requires = capabilityFor(method, params);
        const read = (result: unknown): unknown =>
          withRequested(result as JsonObject, requestedNames({ method, params }));
        return [name, await this.request({ method, params, key, requires, read })] as const;
      });
      this.inputResponses = Object.fromEntries(await Promise.all(requests));
      this.requestState = open.requestState;
      const result = await run();
      if (!(result instanceof InputRequired)) return result;
      open = result;
    }
    throw new TypeError(`The handler of a task returned inputRequired more than ${maxRounds} times.`);
  }

  /** Passes the responses in a record to the handler. */
  receive({ inputRequests }: TaskRecord): void {
    for (const { id, response } of inputRequests) {
      if (!response) continue;
      const key = this.#inheritedKeys.get(id);
      if (key !== undefined) this.#responses.set(key, response);
      this.#inheritedKeys.delete(id);
      this.#settle(id, response);
    }
  }

  /** Passes a response to the handler that waits for it. */
  #settle(id: string, response: InputResponse): void {
    const request = this.#waiting.get(id);
    this.#waiting.delete(id);
    this.#init.call.core.clock.clearTimeout(request?.timer);
    request?.resolve(response);
  }

  /** Closes a request whose time limit is over, unless the task has a response to it. */
  async #expire(id: string): Promise<void> {
    try {
      await this.#init.update((record) => {
        this.receive(record);
        return withResponses(record, (otherId) => (otherId === id ? { timedOut: true } : undefined));
      });
      this.#settle(id, { timedOut: true });
    } catch (error) {
      this.#waiting.get(id)?.reject(error);
    }
  }

  /** Rejects all pending and later requests. Called when the run ends. */
  end(reason: Error): void {
    this.#endReason ??= reason;
    for (const request of this.#pending()) {
      this.#init.call.core.clock.clearTimeout(request.timer);
      request.reject(reason);
    }
    this.#waiting.clear();
  }

  #pending(): PendingRequest[] {
    return [...this.#waiting.values(), ...(this.#turn ?? [])];
  }

  #enqueue(key: string, { method, params, timeout }: ServerRequest): Promise<InputResponse> {
    if (this.#endReason) return Promise.reject(this.#endReason);
    if (this.#pending().some((request) => request.key === key)) {
      return Promise.reject(new TypeError(`Two input requests of one call have the key "${key}".`));
    }
    return new Promise((resolve, reject) => {
      if (!this.#turn) {
        this.#turn = [];
        // Waits for the end of the turn, so that the client sees concurrent requests at the same time.
        setTimeout(() => void this.#storeTurn(), 0);
      }
      const endsAt = timeout === undefined ? {} : { endsAt: this.#init.call.core.clock.now() + timeout };
      this.#turn.push({ key, method, params, ...endsAt, resolve, reject });
    });
  }

  async #storeTurn(): Promise<void> {
    const requests = this.#turn ?? [];
    this.#turn = undefined;
    if (this.#endReason) return;
    let open = requests;
    let newRequests: [id: string, request: PendingRequest][] = [];
    try {
      await this.#init.update((record) => {
        this.receive(record);
        // Requests of an earlier attempt that have a response now are no longer waiting.
        const answeredRequests = newRequests.flatMap(([id, request]) => (this.#waiting.delete(id) ? [] : request));
        open = open.filter((request) => !answeredRequests.includes(request));
        const storedRequests = [...record.inputRequests];
        newRequests = open.flatMap((request) => this.#add(storedRequests, request));
        const changed = withInputRequests(record, storedRequests);
        return newRequests.length > 0 ? { ...changed, waitingRun: record.run } : changed;
      });
      // The run may have ended before the requests were stored.
      if (this.#endReason) throw this.#endReason;
    } catch (error) {
      for (const request of requests) request.reject(error);
    }
  }

  /** Adds a request to the stored ones and returns it with its id. Returns nothing if there is already a response. */
  #add(storedRequests: TaskInputRequest[], request: PendingRequest): [id: string, request: PendingRequest][] {
    const response = this.#responses.get(request.key);
    if (response) {
      request.resolve(response);
      return [];
    }
    const { id, endsAt } = addRequest(storedRequests, request);
    this.#waiting.set(id, request);
    const { clock } = this.#init.call.core;
    clock.clearTimeout(request.timer);
    if (endsAt !== undefined) request.timer = clock.setTimeout(() => void this.#expire(id), endsAt - clock.now());
    return [[id, request]];
  }

  async #record<T>(key: string, fn: () => T | Promise<T>): Promise<T> {
    const value = await fn();
    this.#onceValues.set(key, value);
    const { record, update } = this.#init;
    // Only a later run reads the stored value.
    if (record.again) {
      await update((now) => ({ ...now, once: [...now.once.filter(([otherKey]) => otherKey !== key), [key, value]] }));
    }
    return value;
  }
}

/**
 * Adds a request to the stored ones and returns it. If an earlier run has stored the same request, returns that one, whose
 * time limit continues. Otherwise the id is new (SEP-2663: keys are unique over the lifetime of a task).
 */
function addRequest(
  storedRequests: TaskInputRequest[],
  { key, method, params, endsAt }: PendingRequest,
): TaskInputRequest {
  const text = JSON.stringify(params);
  const same = storedRequests.find(
    (one) => one.key === key && !one.response && one.method === method && JSON.stringify(one.params) === text,
  );
  if (same) return same;
  // An earlier run sent other params under this key. Closes that request, because no handler waits for it.
  const oldIndex = storedRequests.findIndex((one) => one.key === key && !one.response);
  if (oldIndex !== -1) storedRequests[oldIndex] = { ...storedRequests[oldIndex]!, response: { result: undefined } };
  let id = key;
  for (let n = 2; storedRequests.some((one) => one.id === id); n++) id = `${key}-${n}`;
  const request = { id, key, method, params, ...(endsAt !== undefined && { endsAt }) };
  storedRequests.push(request);
  return request;
}
