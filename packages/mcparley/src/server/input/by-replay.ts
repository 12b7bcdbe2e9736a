import type { JsonObject } from "../../rpc/messages.ts";
import { LocalError, invalidParams } from "../../rpc/errors.ts";
import { Method } from "../../mcp/methods.ts";
import { type InputRequest, mayRequireInput, readInputResponses } from "../../mcp/input-required.ts";
import {
  type InputChannel,
  InvalidResponse,
  type ServerRequest,
  type Recorded,
  Unanswered,
} from "../core/input-channel.ts";
import { capabilityFor, checkRequest, encodeRequest, requestedNames, withRequested } from "./input-request.ts";
import type { Call } from "../core/call.ts";
import type { InputRequired } from "../core/input-required.ts";
import { principalKey } from "../core/context.ts";
import { digestOfJson, sealOf } from "./sealed-state.ts";

/** Maximum size of the state of one call, in characters of JSON. */
const maxState = 65_536;

/** The state of a call between two rounds. The client carries it, sealed. */
interface RoundState {
  /** Responses of earlier rounds, by the key of their request. */
  answers: [string, unknown][];
  /** Values that `once` recorded. */
  once: [string, unknown][];
  /** Keys of the requests of the last round. Responses with other keys are ignored. */
  asked: string[];
  /** The names that the contents of responses to the last round may have, by the key of their elicitation. */
  names?: [string, ReturnType<typeof requestedNames>][];
  /** The times at which the requests with a time limit were first sent, by key. Without those that are settled. */
  askedAt?: [string, number][];
  /** Keys of the requests that were not answered in time. A later response has no effect. */
  unanswered?: string[];
  /** The `requestState` that the handler passed to `inputRequired`. */
  own?: string;
}

/**
 * Ends the call with input requests, and runs its handler again with the responses (2026-07-28, basic/patterns/mrtr).
 *
 * Requests of the same turn are sent together. Their promises reject, so that `finally` blocks run. The input requests then
 * replace the handler's result.
 */
export class ReplayChannel implements InputChannel {
  readonly inputResponses: JsonObject;
  readonly requestState: string | undefined;
  readonly #call: Call;
  readonly #answers: Map<string, unknown>;
  readonly #onceValues: Map<string, unknown>;
  readonly #askedAt: Map<string, number>;
  readonly #unanswered: Set<string>;
  readonly #pending = new Map<string, InputRequest>();
  readonly #running = new Map<string, Promise<unknown>>();
  #order = 0;
  /** An error in how the handler uses the channel. It replaces the input requests. */
  #defect: Error | undefined;
  #turn: Promise<never> | undefined;

  private constructor(call: Call, state: RoundState, responses: Readonly<Record<string, JsonObject>>) {
    this.#call = call;
    this.#answers = new Map(state.answers);
    this.#onceValues = new Map(state.once);
    this.#askedAt = new Map(state.askedAt);
    this.#unanswered = new Set(state.unanswered);
    const names = new Map(state.names);
    this.inputResponses = Object.fromEntries(
      Object.entries(responses).map(([key, response]) => [key, withRequested(response, names.get(key))]),
    );
    for (const key of state.asked) if (Object.hasOwn(responses, key)) this.#answers.set(key, this.inputResponses[key]);
    this.requestState = state.own;
  }

  /**
   * Opens the state that the request carries. Throws -32602 if it does not belong to this request.
   *
   * Without a state, no request is pending, so no response resolves a promise of `elicit`. A handler that uses `inputRequired`
   * receives the responses, because a retry may carry responses alone (Client Requirements, 2).
   */
  static async open(call: Call): Promise<ReplayChannel> {
    const { requestState } = call.params;
    if (requestState === undefined) {
      return new ReplayChannel(call, { answers: [], once: [], asked: [] }, readInputResponses(call.params));
    }
    if (typeof requestState !== "string") throw invalidParams("params.requestState must be a string.");
    const state = (await sealOf(call.core).open(requestState, () => bindingOf(call))) as RoundState;
    return new ReplayChannel(call, state, readInputResponses(call.params, state.asked));
  }

  async request<T>(request: ServerRequest<T>): Promise<T> {
    const key = request.key ?? `${request.method.split("/")[0]}-${++this.#order}`;
    if (this.#pending.has(key)) {
      this.#defect = new TypeError(`Two input requests of one call have the key "${key}".`);
      throw this.#defect;
    }
    const askedAt = this.#settleTime(key, request) ?? this.#call.core.clock.now();
    if (this.#answers.has(key)) {
      try {
        return await request.read(this.#answers.get(key));
      } catch (error) {
        if (!(error instanceof InvalidResponse)) throw error;
        this.#answers.delete(key);
      }
    }
    this.#requireSupport();
    checkRequest(this.#call, request);
    const encodedRequest = encodeRequest(this.#call, request.method, request.params);
    if (request.timeout !== undefined) this.#askedAt.set(key, askedAt);
    this.#pending.set(key, { method: request.method, params: encodedRequest.params });
    this.#turn ??= this.#endTurn();
    return this.#turn;
  }

  once<T>(key: string, fn: () => T | Promise<T>): Promise<T> {
    if (this.#onceValues.has(key)) return Promise.resolve(this.#onceValues.get(key) as T);
    const runningValue = this.#running.get(key) as Promise<T> | undefined;
    if (runningValue) return runningValue;
    const running = Promise.resolve(fn()).then((value) => {
      this.#onceValues.set(key, value);
      return value;
    });
    this.#running.set(key, running);
    return running;
  }

  recorded(): Recorded {
    return { answers: [...this.#answers], once: [...this.#onceValues], order: this.#order };
  }

  async pendingResult(): Promise<JsonObject | undefined> {
    if (this.#defect) throw this.#defect;
    return this.#pending.size === 0 ? undefined : this.#result(undefined);
  }

  async continueWith(inputRequired: InputRequired): Promise<JsonObject> {
    this.#requireSupport();
    for (const [key, { method, params = {} }] of Object.entries(inputRequired.inputRequests)) {
      checkRequest(this.#call, { method, params, requires: capabilityFor(method, params) });
      this.#pending.set(key, { method, params: encodeRequest(this.#call, method, params).params });
    }
    return this.#result(inputRequired.requestState);
  }

  /**
   * Returns the time at which a request was first sent, if it has a time limit. Throws `Unanswered` if the limit is over, or if the
   * client has sent the call again without an answer. The request is not sent again then.
   */
  #settleTime(key: string, request: ServerRequest): number | undefined {
    const { timeout } = request;
    const askedAt = this.#askedAt.get(key);
    this.#askedAt.delete(key);
    if (timeout === undefined) return undefined;
    const isInTime = askedAt === undefined || this.#call.core.clock.now() < askedAt + timeout;
    if (askedAt !== undefined && !(isInTime && this.#answers.has(key))) this.#unanswered.add(key);
    if (!this.#unanswered.has(key)) return askedAt;
    this.#answers.delete(key);
    throw new Unanswered(request);
  }

  /** Methods of extensions may end with any result that the extension defines. */
  #requireSupport(): void {
    const { method, revision } = this.#call;
    if (mayRequireInput.has(method) || !revision.clientRequests.has(method)) return;
    const allowedMethods = [...mayRequireInput].join(", ");
    throw new TypeError(
      `Revision ${revision.version} allows no input requests in ${method}, only in ${allowedMethods}.`,
    );
  }

  async #result(requestState: string | undefined): Promise<JsonObject> {
    await Promise.allSettled(this.#running.values());
    const state: RoundState = {
      answers: [...this.#answers],
      once: [...this.#onceValues],
      asked: [...this.#pending.keys()],
    };
    const names = [...this.#pending].filter(([, { method }]) => method === Method.elicit);
    if (names.length > 0) state.names = names.map(([key, request]) => [key, requestedNames(request)]);
    if (this.#askedAt.size > 0) state.askedAt = [...this.#askedAt];
    if (this.#unanswered.size > 0) state.unanswered = [...this.#unanswered];
    if (requestState !== undefined) state.own = requestState;
    const { length } = JSON.stringify(state);
    if (length > maxState) {
      const cure = "Keep large values on the server, and record a key to them with `once`.";
      throw new LocalError(
        "too_large",
        `The responses and recorded values of this call have ${length} characters; at most ${maxState} are allowed. ${cure}`,
      );
    }
    const seal = sealOf(this.#call.core);
    const result: JsonObject = { resultType: "input_required" };
    if (this.#pending.size > 0) result.inputRequests = Object.fromEntries(this.#pending);
    result.requestState = await seal.seal(state, await bindingOf(this.#call));
    return result;
  }

  /** Rejects at the end of the turn, when all requests of the turn are known. */
  #endTurn(): Promise<never> {
    const suspension = new LocalError(
      "aborted",
      "The call ended to request input. Its handler runs again with the response.",
    );
    const turn = new Promise<never>((_, reject) => {
      setTimeout(() => reject(suspension), 0);
    });
    turn.catch(() => {});
    return turn;
  }
}

/** Returns the binding of a state: caller, method, name and arguments. The seal adds the server. */
async function bindingOf(call: Call): Promise<string> {
  const { name, uri, arguments: args } = call.params;
  return JSON.stringify([principalKey(call.principal), call.method, name ?? uri, await digestOfJson(args ?? {})]);
}
