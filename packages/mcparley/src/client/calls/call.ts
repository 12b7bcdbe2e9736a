import { unlessAborted } from "../../rpc/abort.ts";
import type { Awaitable } from "../../rpc/awaitable.ts";
import type { Clock } from "../../rpc/clock.ts";
import { LocalError } from "../../rpc/errors.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import type { LoggingLevel } from "../../mcp/logging.ts";
import type { Tool } from "../../mcp/tools.ts";
import type { UrlVisits } from "../connect/legacy-messages.ts";
import type { Offer, Session, Sessions } from "../connect/session.ts";
import type { TransportFactory } from "../connect/transports.ts";
import type { AnswerInput } from "../input/input-requests.ts";
import { type Asker, type ConnectOptions, type RequestOptions, checkTimeouts } from "../options.ts";
import type { Subscriptions } from "../subscriptions/subscriptions.ts";
import type { Cache } from "./cache.ts";
import type { KnownTools } from "./known-tools.ts";
import type { List } from "./lists.ts";
import { nameOf } from "./outcome.ts";

/** The parts of a client, for the functions that make its calls. */
export interface ClientCore {
  readonly options: ConnectOptions;
  readonly transports: TransportFactory;
  readonly clock: Clock;
  readonly offer: Offer;
  readonly sessions: Sessions;
  readonly cache: Cache | undefined;
  readonly tools: KnownTools;
  /** Loads the function that answers requests of the server. */
  readonly inputRequests: (this: void) => Promise<AnswerInput>;
  /** Undefined until the first visit. */
  visits: UrlVisits | undefined;
  /** Undefined until the first subscription. */
  subscriptions: Subscriptions | undefined;
  /** Aborted when the client is closed. */
  readonly closing: AbortSignal;
  readonly running: Set<Call>;
  /** The log level of modern requests that name none. */
  logLevel: LoggingLevel | undefined;
  listTools(this: void, options: RequestOptions): List<Tool>;
  /** Sends a request on behalf of a call of the user. It is repaired, and has no other steps. */
  sendWithin(this: void, request: CallRequest, options: RequestOptions): Promise<JsonObject>;
  /** The requester, for handlers and hooks. */
  asker(this: void, during: string | undefined, signal: AbortSignal): Asker;
  /** Reports an error that belongs to no call. */
  report(this: void, error: unknown): void;
}

/** The request that a call sends. */
export interface CallRequest {
  method: string;
  params: JsonObject;
}

/** Options of a call, for callers in this library. */
export interface CallOptions extends RequestOptions {
  /** Maximum size of the reply in bytes, if it is more than the default limit of the transport. */
  maxReply?: number;
}

/** One call of the user, through all its rounds and retries. */
export interface Call {
  readonly core: ClientCore;
  readonly method: string;
  params: JsonObject;
  options: CallOptions;
  /** The method and the name in the params, for errors and handlers: `tools/call "add"`. */
  readonly what: string;
  /** The session that the call is sent in. A repair may replace it. */
  session: Session | undefined;
  /** The milliseconds left of the total timeout. */
  left: number;
  /** The answers to the input requests of the round before. Undefined in the first round. */
  answers: JsonObject | undefined;
  /** The generation of the cache when the call was sent. Undefined if its result must not be cached. */
  generation: number | undefined;
}

/** A step of a call. It does its part and continues with `next.step(call, next.next)`. */
export type Step = (call: Call, next: Next) => Promise<JsonObject>;

/** The rest of the steps. A linked list instead of closures, so that a step is one frame of the stack. */
export interface Next {
  readonly step: Step;
  readonly next: Next;
}

/** The end of a chain. No step calls it, since the step before it sends the request. */
export const end: Next = {
  step: ({ what }) => Promise.reject(new Error(`No step is left for ${what}.`)),
  get next() {
    return end;
  },
};

/** The total timeout of a call in milliseconds, unless the user sets one. */
export const defaultTotal: number = 30 * 60_000;

export function makeCall(core: ClientCore, { method, params }: CallRequest, options: CallOptions): Call {
  checkTimeouts(options.timeout);
  const name = nameOf(params);
  return {
    core,
    method,
    params,
    options,
    what: name === undefined ? method : `${method} ${JSON.stringify(name.slice(0, 200))}`,
    session: core.sessions.current,
    left: options.timeout?.total ?? core.options.timeout?.total ?? defaultTotal,
    answers: undefined,
    generation: undefined,
  };
}

/** Returns the open session, or opens one. Rejects if the caller aborts the call. */
export function sessionFor({ core, options: { signal }, what }: Call): Awaitable<Session> {
  const { current } = core.sessions;
  return current && !signal?.aborted ? current : unlessAborted(core.sessions.ensure(), signal, what);
}

export function unexpectedType({ what }: Call, resultType: unknown): LocalError {
  const shown = JSON.stringify(resultType)?.slice(0, 100);
  return new LocalError("invalid_message", `${what} was answered with a result of the type ${shown}.`);
}
