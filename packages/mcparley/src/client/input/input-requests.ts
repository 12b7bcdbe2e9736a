import { Cancelled, Declined, ErrorCode, LocalError, ProtocolError, invalidParams } from "../../rpc/errors.ts";
import { type JsonObject, isObject } from "../../rpc/messages.ts";
import {
  type ElicitFormParams,
  type ElicitParams,
  type ElicitResult,
  type ElicitUrlParams,
  readElicitResult,
} from "../../mcp/elicitation.ts";
import { Method } from "../../mcp/methods.ts";
import { type CreateMessageParams, findToolImbalance } from "../../mcp/sampling.ts";
import { unlessAborted } from "../../rpc/abort.ts";
import { checkRoots } from "./check-roots.ts";
import { elicitModesOf } from "../client-capabilities.ts";
import { type Form, prepareForm } from "./elicitation.ts";
import type { Asker, ConnectOptions } from "../options.ts";
import { checkUrl } from "./safe-url.ts";

/**
 * Answers what servers ask, with the handlers that the client was given: the same for every revision.
 *
 * A question that is at fault is refused with a `ProtocolError` that tells the server why, before a handler sees it;
 * any other error is one of this side. Forms and URLs come one after another, so that a person sees one at a time.
 */
export class Questions {
  readonly #options: ConnectOptions;
  readonly #report: (error: Error) => void;
  /** Settles when the person is free for the next question. */
  #turn: Promise<unknown> = Promise.resolve();

  /** `report` receives errors that refuse nothing, such as a part of a form's schema that cannot be checked. */
  constructor(options: ConnectOptions, report: (error: Error) => void) {
    this.#options = options;
    this.#report = report;
  }

  async answer(method: string, params: JsonObject, asker: Asker): Promise<JsonObject> {
    const { elicit, sample, roots } = this.#options;
    asker.signal.throwIfAborted();
    if (method === Method.elicit && elicit) return { ...(await this.elicit(params, asker)) };
    if (method === Method.createMessage && sample) return this.#sample(params, asker);
    if (method === Method.listRoots && roots) {
      return { roots: checkRoots(typeof roots === "function" ? await roots(asker) : roots) };
    }
    const message = `Method not found, or its capability was not declared: ${method.slice(0, 200)}`;
    throw new ProtocolError(ErrorCode.MethodNotFound, message);
  }

  /** Asks the person, once it is this question's turn. */
  async elicit(params: JsonObject, asker: Asker): Promise<ElicitResult> {
    const { question, form } = await this.#readQuestion(params);
    return this.#inTurn(asker, async () => {
      const result = await this.#ask(question, form ? { ...asker, check: (content) => form.check(content) } : asker);
      if (result.action !== "accept") return { action: result.action };
      return form ? { action: "accept", content: form.complete(result.content) } : { action: "accept" };
    });
  }

  async #ask(question: ElicitParams, asker: Asker): Promise<ElicitResult> {
    try {
      return readElicitResult(await this.#options.elicit!(question, asker));
    } catch (error) {
      if (error instanceof Declined) return { action: "decline" };
      if (error instanceof Cancelled) return { action: "cancel" };
      throw error;
    }
  }

  async #readQuestion(params: JsonObject): Promise<{ question: ElicitParams; form?: Form }> {
    const { mode = "form", message, requestedSchema } = params;
    if (typeof message !== "string") throw invalidParams("params.message must be a string");
    if (mode !== "form" && mode !== "url") throw invalidParams('params.mode must be "form" or "url"');
    if (!elicitModesOf(this.#options).includes(mode)) {
      throw invalidParams(`This client has not declared the capability elicitation.${mode}`);
    }
    if (mode === "url") {
      checkUrl(params.url);
      return { question: params as unknown as ElicitUrlParams };
    }
    if (!isObject(requestedSchema) || !isObject(requestedSchema.properties)) {
      throw invalidParams("params.requestedSchema must be an object with properties");
    }
    const question = params as unknown as ElicitFormParams;
    return { question, form: await prepareForm(question.requestedSchema, this.#report) };
  }

  #inTurn<T>(asker: Asker, run: () => Promise<T>): Promise<T> {
    const { signal } = asker;
    const mine = this.#turn.then(() => {
      signal.throwIfAborted();
      return unlessAborted(run(), signal, "The question");
    });
    this.#turn = mine.catch(() => {});
    return mine;
  }

  async #sample(params: JsonObject, asker: Asker): Promise<JsonObject> {
    const { messages, tools, toolChoice } = params;
    if (!Array.isArray(messages) || !messages.every(isMessage)) {
      throw invalidParams("params.messages must be an array of messages, each with a role and content");
    }
    if ((tools !== undefined || toolChoice !== undefined) && !this.#options.sampleTools) {
      const given = tools === undefined ? "toolChoice" : "tools";
      throw invalidParams(`params.${given}: this client has not declared the capability sampling.tools`);
    }
    const request = params as unknown as CreateMessageParams;
    const imbalance = findToolImbalance(request.messages);
    if (imbalance) throw invalidParams(`params.${imbalance}`);
    const result = await unlessAborted(
      Promise.resolve(this.#options.sample!(request, asker)),
      asker.signal,
      "Sampling",
    );
    if (isObject(result)) return { ...result };
    throw new LocalError("invalid_result", "The sample handler must return an object with role, content and model.");
  }
}

function isMessage(message: unknown): boolean {
  return isObject(message) && (message.role === "user" || message.role === "assistant") && isContent(message.content);
}

function isContent(content: unknown): boolean {
  return isObject(content) || (Array.isArray(content) && content.every(isObject));
}
