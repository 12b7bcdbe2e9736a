import type { Awaitable } from "../../rpc/awaitable.ts";
import { LocalError } from "../../rpc/errors.ts";
import type { JsonObject, Prepared } from "../../rpc/messages.ts";
import type { ClientCapabilities } from "../../mcp/capabilities.ts";
import { type Budget, checkBudget } from "../../schema/budget.ts";
import type { Progress } from "../../mcp/progress.ts";
import type { InputRequired } from "./input-required.ts";

/** A request of the server to the client, in the shape of the newest revision: elicitation, sampling or roots. */
export interface ServerRequest<T = unknown> {
  method: string;
  params: JsonObject;
  key: string | undefined;
  /** The capability that the client must have declared. */
  requires: ClientCapabilities;
  /** Milliseconds to wait for the response, in spite of progress. Default: `limits.askTimeout` after the last progress. */
  timeout?: number | undefined;
  /** Called with each progress that the client reports. Only on revisions up to 2025-11-25. */
  onProgress?: ((progress: Progress) => void) | undefined;
  /** Reads the client's response. Throws `InvalidResponse` if it does not match the request. */
  read(result: unknown): T | Promise<T>;
}

/** A response of the client that does not match the request. The request is sent again. */
export class InvalidResponse extends LocalError {
  constructor(message: string) {
    super("invalid_message", message);
  }
}

/** The client did not respond to a request in time, or has sent the call again without a response to it. */
export class Unanswered extends LocalError {
  constructor({ method, params, timeout }: ServerRequest, options?: ErrorOptions) {
    const { message } = params;
    const request = typeof message === "string" ? `The question "${message.slice(0, 200)}"` : method;
    const limit = timeout === undefined ? "in time" : `within ${timeout} ms`;
    super("timeout", `${request} was not answered ${limit}.`, options);
  }
}

/** Reads a client's response. Throws `InvalidResponse` if it does not match, is nested too deep or is too large. */
export function readResponse<T>(request: ServerRequest<T>, response: unknown, limits: Budget): T | Promise<T> {
  const excess = checkBudget(response, limits);
  if (excess) throw new InvalidResponse(`The response to ${request.method} cannot be used. ${excess}`);
  return request.read(response);
}

/** Sends input requests of a handler: as requests in a legacy session, in the result of the call in a modern revision. */
export interface InputChannel {
  readonly inputResponses: JsonObject;
  readonly requestState: string | undefined;
  request<T>(request: ServerRequest<T>): Promise<T>;
  once<T>(key: string, fn: () => T | Promise<T>): Promise<T>;
  /** Returns the result that replaces the handler's if requests are pending when the handler ends. */
  pendingResult(): Promise<JsonObject | undefined>;
  /** Returns the recorded responses and values, for a channel that replaces this one. */
  recorded(): Recorded;
  /** Sends the input requests that the handler returned. `run` runs the handler again with the responses. */
  continueWith(wanted: InputRequired, run: Run): Promise<JsonObject | Prepared>;
}

/** The responses that a handler received and the values that it recorded with `once`, by key. */
export interface Recorded {
  answers: [key: string, answer: unknown][];
  once: [key: string, value: unknown][];
  /** Number of requests without a key. */
  order: number;
}

export type Run = () => Awaitable<JsonObject | Prepared | InputRequired>;
