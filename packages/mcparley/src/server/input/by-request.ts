import { encodeQuestion } from "./encode-request.ts";
import { LocalError } from "../../rpc/errors.ts";
import { ToolError } from "../../mcp/errors.ts";
import type { JsonObject, Prepared } from "../../rpc/messages.ts";
import {
  type Asking,
  InvalidAnswer,
  type Question,
  type Recorded,
  type Run,
  capabilityFor,
  readAnswer,
  requireCapability,
} from "./input-channel.ts";
import type { Call, Link } from "../dispatch/call.ts";
import { InputRequired } from "./input-required.ts";
import type { Session } from "../protocol/session.ts";

/** How often a handler may return `inputRequired` in one call, so that one that never ends does not ask forever. */
const maxRounds = 32;

/** Asks by sending the client a request and waiting, as legacy revisions do. */
export class DirectAsking implements Asking {
  inputResponses: JsonObject = {};
  requestState: string | undefined;
  readonly #call: Call;
  readonly #session: Session;
  readonly #link: Link;
  readonly #recorded = new Map<string, Promise<unknown>>();

  constructor(call: Call, session: Session, link: Link) {
    this.#call = call;
    this.#session = session;
    this.#link = link;
  }

  async ask<T>(question: Question<T>): Promise<T> {
    requireCapability(this.#call.peer.capabilities, question.requires);
    const { revision } = this.#call;
    if (!revision.serverRequests.has(question.method)) {
      throw new LocalError("not_capable", `Protocol revision ${revision.version} has no ${question.method}.`);
    }
    const encoded = encodeQuestion(this.#call, question.method, question.params);
    const result = await this.#session.request(question.method, encoded.params, {
      link: this.#link,
      signal: this.#call.signal,
    });
    try {
      return await readAnswer(question, encoded.decode(result), this.#call.core.limits);
    } catch (error) {
      throw error instanceof InvalidAnswer ? new ToolError(error.message, { cause: error }) : error;
    }
  }

  once<T>(key: string, fn: () => T | Promise<T>): Promise<T> {
    const recorded = this.#recorded.get(key) as Promise<T> | undefined;
    if (recorded) return recorded;
    const running = Promise.resolve(fn());
    this.#recorded.set(key, running);
    return running;
  }

  soFar(): Recorded {
    return { answers: [], once: [], order: 0 };
  }

  async interrupted(): Promise<undefined> {
    return undefined;
  }

  async goOn(wanted: InputRequired, run: Run): Promise<JsonObject | Prepared> {
    let open = wanted;
    for (let round = 0; round < maxRounds; round++) {
      this.inputResponses = await this.#answers(open);
      this.requestState = open.requestState;
      const result = await run();
      if (!(result instanceof InputRequired)) return result;
      open = result;
    }
    throw new TypeError(`The handler of ${this.#call.method} returned inputRequired ${maxRounds} times over.`);
  }

  async #answers({ inputRequests }: InputRequired): Promise<JsonObject> {
    const questions = Object.entries(inputRequests).map(async ([key, { method, params = {} }]) => {
      const question = {
        method,
        params,
        key,
        requires: capabilityFor(method, params),
        read: (result: unknown) => result,
      };
      return [key, await this.ask(question)] as const;
    });
    return Object.fromEntries(await Promise.all(questions));
  }
}
