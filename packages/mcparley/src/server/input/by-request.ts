import { LocalError, ProtocolError } from "../../rpc/errors.ts";
import { ErrorCode, ToolError } from "../../mcp/errors.ts";
import type { JsonObject, JsonRpcErrorBody, Prepared } from "../../rpc/messages.ts";
import {
  type InputChannel,
  InvalidResponse,
  type ServerRequest,
  type Recorded,
  type Run,
  Unanswered,
  readResponse,
} from "../core/input-channel.ts";
import { capabilityFor, checkRequest, encodeRequest } from "./input-request.ts";
import type { Call, CallSession, Link } from "../core/call.ts";
import { InputRequired } from "../core/input-required.ts";

/** Maximum number of times that a handler may return `inputRequired` in one call. */
const maxRounds = 32;

/** Sends the client a request and waits for its response (legacy revisions). */
export class RequestChannel implements InputChannel {
  inputResponses: JsonObject = {};
  requestState: string | undefined;
  readonly #call: Call;
  readonly #session: CallSession;
  readonly #link: Link;
  readonly #onceValues = new Map<string, Promise<unknown>>();

  constructor(call: Call, session: CallSession, link: Link) {
    this.#call = call;
    this.#session = session;
    this.#link = link;
  }

  async request<T>(request: ServerRequest<T>): Promise<T> {
    checkRequest(this.#call, request);
    const encodedRequest = encodeRequest(this.#call, request.method, request.params);
    const { method } = request;
    const { elicitationId } = encodedRequest.params;
    if (typeof elicitationId === "string") await this.#session.visiting(elicitationId);
    const { timeout: totalTimeout, onProgress } = request;
    const options = { link: this.#link, signal: this.#call.signal, totalTimeout, onProgress };
    const result = await this.#session.request(method, encodedRequest.params, options).catch((error: unknown) => {
      if (error instanceof LocalError && error.code === "timeout") throw new Unanswered(request, { cause: error });
      throw error instanceof ProtocolError ? refusedInput(method, error) : error;
    });
    try {
      return await readResponse(request, encodedRequest.decode(result), this.#call.core.limits);
    } catch (error) {
      throw error instanceof InvalidResponse ? new ToolError(error.message, { cause: error }) : error;
    }
  }

  once<T>(key: string, fn: () => T | Promise<T>): Promise<T> {
    const runningValue = this.#onceValues.get(key) as Promise<T> | undefined;
    if (runningValue) return runningValue;
    const running = Promise.resolve(fn());
    this.#onceValues.set(key, running);
    return running;
  }

  recorded(): Recorded {
    return { answers: [], once: [], order: 0 };
  }

  async pendingResult(): Promise<undefined> {
    return undefined;
  }

  async continueWith(inputRequired: InputRequired, run: Run): Promise<JsonObject | Prepared> {
    let open = inputRequired;
    for (let round = 0; round < maxRounds; round++) {
      this.inputResponses = await this.#answers(open);
      this.requestState = open.requestState;
      const result = await run();
      if (!(result instanceof InputRequired)) return result;
      open = result;
    }
    throw new TypeError(`The handler of ${this.#call.method} returned inputRequired more than ${maxRounds} times.`);
  }

  async #answers({ inputRequests }: InputRequired): Promise<JsonObject> {
    const responses = Object.entries(inputRequests).map(async ([key, { method, params = {} }]) => {
      const request = {
        method,
        params,
        key,
        requires: capabilityFor(method, params),
        read: (result: unknown) => result,
      };
      return [key, await this.request(request)] as const;
    });
    return Object.fromEntries(await Promise.all(responses));
  }
}

/**
 * Returns the error of a call whose client refused an input request. The code of the refusal is not used: the client would
 * read "Method not found" as the answer to its own request.
 */
function refusedInput(method: string, { code, message, data }: JsonRpcErrorBody): ProtocolError {
  const text = `The client answered ${method} with ${code}: ${message.slice(0, 500)}`;
  return new ProtocolError(ErrorCode.InvalidRequest, text, {
    data: { method, code },
    cause: new ProtocolError(code, message, { data }),
  });
}
