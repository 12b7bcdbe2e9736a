import { encodeQuestion } from "./encode-request.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import { LocalError, invalidParams } from "../../rpc/errors.ts";
import { type InputRequest, askable, readInputResponses } from "../../mcp/input-required.ts";
import {
  type Asking,
  InvalidAnswer,
  type Question,
  type Recorded,
  capabilityFor,
  requireCapability,
} from "./input-channel.ts";
import type { Call } from "../dispatch/call.ts";
import type { InputRequired } from "./input-required.ts";
import { principalKey } from "../dispatch/context.ts";
import { digest, sealOf } from "./sealed-state.ts";

/** The most that the state of one call may hold, in characters of JSON. */
const maxState = 65_536;

/** What is carried, sealed, from one round of a call to the next. */
interface RoundState {
  /** Answers of the rounds before, by the key of their question. */
  answers: [string, unknown][];
  /** What `once` returned. */
  once: [string, unknown][];
  /** The keys that were asked in the last round: only for these is an answer taken. */
  asked: string[];
  /** The state that the handler itself gave to `inputRequired`. */
  own?: string;
}

/** Why a handler that asked on a modern revision is ended: it runs again when the answer is there. */
class Suspended extends LocalError {
  constructor() {
    super("aborted", "The call was ended to ask the client; its handler runs again with the answer.");
  }
}

/**
 * Asks by ending the call (2026-07-28, basic/patterns/mrtr).
 *
 * Questions asked in the same turn go out together. They reject, so that `finally` blocks run; whatever the handler
 * returns after that is dropped and the call's result is the questions.
 */
export class Replay implements Asking {
  readonly inputResponses: JsonObject;
  readonly requestState: string | undefined;
  readonly #call: Call;
  readonly #answers: Map<string, unknown>;
  readonly #recorded: Map<string, unknown>;
  readonly #pending = new Map<string, InputRequest>();
  readonly #running = new Map<string, Promise<unknown>>();
  #order = 0;
  /** What is wrong with how the handler asks; it takes the place of the questions. */
  #defect: Error | undefined;
  #turn: Promise<never> | undefined;

  private constructor(call: Call, state: RoundState, responses: JsonObject) {
    this.#call = call;
    this.#answers = new Map(state.answers);
    this.#recorded = new Map(state.once);
    for (const key of state.asked) if (Object.hasOwn(responses, key)) this.#answers.set(key, responses[key]);
    this.inputResponses = responses;
    this.requestState = state.own;
  }

  /** Opens the state that the request carries, if any. Throws where it does not belong to this request. */
  static async of(call: Call): Promise<Replay> {
    const { requestState } = call.params;
    if (requestState === undefined) return Replay.first(call);
    if (typeof requestState !== "string") throw invalidParams("params.requestState must be a string.");
    const state = (await (await sealOf(call.core)).open(requestState, await bindingOf(call))) as RoundState;
    const responses = Object.entries(readInputResponses(call.params)).filter(([key]) => state.asked.includes(key));
    return new Replay(call, state, Object.fromEntries(responses));
  }

  /**
   * A round without a state. Nothing is known to have been asked, so no answer settles a question of `elicit` and its
   * siblings. A handler that speaks the wire's own form sees what came, since a retry may carry answers alone (Client
   * Requirements, 2).
   */
  static first(call: Call): Replay {
    return new Replay(call, { answers: [], once: [], asked: [] }, readInputResponses(call.params));
  }

  async ask<T>(question: Question<T>): Promise<T> {
    const key = question.key ?? `${question.method.split("/")[0]}-${++this.#order}`;
    if (this.#pending.has(key)) {
      this.#defect = new TypeError(`Two questions of one call have the key "${key}".`);
      throw this.#defect;
    }
    if (this.#answers.has(key)) {
      try {
        return await question.read(this.#answers.get(key));
      } catch (error) {
        if (!(error instanceof InvalidAnswer)) throw error;
        this.#answers.delete(key);
      }
    }
    this.#requireAskable();
    requireCapability(this.#call.peer.capabilities, question.requires);
    const encoded = encodeQuestion(this.#call, question.method, question.params);
    this.#pending.set(key, { method: question.method, params: encoded.params });
    this.#turn ??= this.#endTurn();
    return this.#turn;
  }

  once<T>(key: string, fn: () => T | Promise<T>): Promise<T> {
    if (this.#recorded.has(key)) return Promise.resolve(this.#recorded.get(key) as T);
    const started = this.#running.get(key) as Promise<T> | undefined;
    if (started) return started;
    const running = Promise.resolve(fn()).then((value) => {
      this.#recorded.set(key, value);
      return value;
    });
    this.#running.set(key, running);
    return running;
  }

  soFar(): Recorded {
    return { answers: [...this.#answers], once: [...this.#recorded], order: this.#order };
  }

  async interrupted(): Promise<JsonObject | undefined> {
    if (this.#defect) throw this.#defect;
    return this.#pending.size === 0 ? undefined : this.#result(undefined);
  }

  async goOn(wanted: InputRequired): Promise<JsonObject> {
    this.#requireAskable();
    for (const [key, { method, params = {} }] of Object.entries(wanted.inputRequests)) {
      requireCapability(this.#call.peer.capabilities, capabilityFor(method, params));
      this.#pending.set(key, { method, params: encodeQuestion(this.#call, method, params).params });
    }
    return this.#result(wanted.requestState);
  }

  /** What extensions add may be answered with whatever they define. */
  #requireAskable(): void {
    const { method, revision } = this.#call;
    if (askable.has(method) || !revision.clientRequests.has(method)) return;
    const allowed = [...askable].join(", ");
    throw new TypeError(
      `Revision ${revision.version} lets no handler of ${method} ask the client, only of ${allowed}.`,
    );
  }

  async #result(own: string | undefined): Promise<JsonObject> {
    await Promise.allSettled(this.#running.values());
    const state: RoundState = {
      answers: [...this.#answers],
      once: [...this.#recorded],
      asked: [...this.#pending.keys()],
    };
    if (own !== undefined) state.own = own;
    const { length } = JSON.stringify(state);
    if (length > maxState) {
      const cure = "Keep large values on the server and record a key to them.";
      throw new LocalError(
        "too_large",
        `The answers and recorded values of this call take ${length} characters; at most ${maxState} can travel. ${cure}`,
      );
    }
    const requestState = await (await sealOf(this.#call.core)).seal(state, await bindingOf(this.#call));
    const result: JsonObject = { resultType: "input_required" };
    if (this.#pending.size > 0) result.inputRequests = Object.fromEntries(this.#pending);
    result.requestState = requestState;
    return result;
  }

  /** Rejects at the end of the turn, when all the questions that are asked together have been asked. */
  #endTurn(): Promise<never> {
    const turn = new Promise<never>((_, reject) => {
      setTimeout(() => {
        reject(new Suspended());
      }, 0);
    });
    turn.catch(() => {});
    return turn;
  }
}

/** What a state belongs to: the caller, the method, what it names, and the arguments. */
async function bindingOf(call: Call): Promise<string> {
  const { name, uri, arguments: args } = call.params;
  return JSON.stringify([principalKey(call.principal), call.method, name ?? uri, await digest(args ?? {})]);
}
