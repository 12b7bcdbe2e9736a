import type { Awaitable } from "../../rpc/awaitable.ts";
import type { Clock } from "../../rpc/clock.ts";
import { LocalError } from "../../rpc/errors.ts";
import { McpError, ToolError } from "../../mcp/errors.ts";
import type { CallEnd } from "../../mcp/observe.ts";
import type { Progress } from "../../mcp/progress.ts";
import { type JsonObject, isObject } from "../../rpc/messages.ts";
import { DEFAULT_IDLE_TIMEOUT, type PendingRequests } from "../../rpc/pending-requests.ts";
import type { LoggingLevel } from "../../mcp/logging.ts";
import type { UrlVisits } from "../input/url-visits.ts";
import type { Offer, Session, Sessions } from "../connect/session.ts";
import type { TransportFactory } from "../connect/transports.ts";
import type { AnswerInput } from "../input/input-requests.ts";
import { type InputRequestSource, type ConnectOptions, type RequestOptions, checkTimeouts } from "../options.ts";
import type { Subscriptions } from "../subscriptions/subscriptions.ts";
import type { Cache, Pending } from "../lists/cache.ts";
import type { KnownTools, Listing } from "./known-tools.ts";

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
  /** What calls wait for before they are sent: a session, the list of tools. */
  readonly waits: PendingRequests;
  /** Aborted when the client is closed. */
  readonly closing: AbortSignal;
  readonly running: Set<Call>;
  /** The work of extensions that `close` waits for. */
  readonly unfinished: Set<Unfinished>;
  /** The log level of modern requests that name none. */
  logLevel: LoggingLevel | undefined;
  /** Lists the tools, and yields after each page the tools that were listed so far. */
  toolPages(this: void, options: RequestOptions): AsyncIterator<Listing, void, undefined>;
  /** Sends a request on behalf of a call of the user. It has no other steps than a repair. With a session, it is not repaired. */
  sendWithin(this: void, request: CallRequest, options: RequestOptions, session?: Session): Promise<JsonObject>;
  /** Makes the description of an input request that is passed to handlers of the host. */
  inputSource(this: void, during: string | undefined, signal: AbortSignal): InputRequestSource;
  /** Reports an error that belongs to no call. */
  report(this: void, error: unknown): void;
}

/** Work of an extension for a call: following its result, or a request that outlives the call. */
export interface Unfinished {
  /** The signal of the followed call. Closing waits for the call only if its caller aborted it. Undefined for a request. */
  readonly signal: AbortSignal | undefined;
  /** Never rejects. */
  readonly ended: Promise<unknown>;
}

/** The request that a call sends. */
export interface CallRequest {
  method: string;
  params: JsonObject;
  /** Whether the result of a tool is checked against its output schema. */
  checksResult?: boolean;
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
  /** The time at which the total timeout ends. It is moved by the time that a user is asked. */
  endsAt: number;
  /** The request was given to the transport, so the server may have run it. */
  isSent: boolean;
  /** The answers to the input requests of the round before. Undefined in the first round. */
  answers: JsonObject | undefined;
  /** Notes whether the result may be cached. Undefined if it is never cached. */
  pending: Pending | undefined;
  /** The generation of the list of tools in which the tool of the call was looked up. */
  listed: number;
  /** The last progress that the caller received. */
  progress: Progress | undefined;
  /** Ends the progress of a task that the call has created. Undefined if it creates none. */
  endProgress: (() => void) | undefined;
  /** Called when the call ends: by the requests of a legacy server that may belong to it. Undefined if there were none. */
  watchers: Set<CallWatcher> | undefined;
}

/** `isAnswered` is false if this side ended the call: it was aborted, or its connection was lost. */
export type CallWatcher = (call: Call, isAnswered: boolean) => void;

/** A step of a call. It does its part and continues with `next.step(call, next.next)`. */
export type Step = (call: Call, next: Next) => Promise<JsonObject>;

/** The rest of the steps. A linked list instead of closures, so that a step is one frame of the stack. */
export interface Next {
  readonly step: Step;
  readonly next: Next;
}

/** The end of a chain. No step calls it, since the step before it sends the request. */
export const end: Next = {
  step: ({ what }) => Promise.reject(new Error(`No step sent ${what}.`)),
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
    endsAt: core.clock.now() + (options.timeout?.total ?? core.options.timeout?.total ?? defaultTotal),
    isSent: false,
    answers: undefined,
    pending: undefined,
    listed: -1,
    progress: undefined,
    endProgress: undefined,
    watchers: undefined,
  };
}

/** The timeouts of the next request of a call, or of the next wait. */
export function limitsOf({ core, options: { timeout }, endsAt }: Call): { idleTimeout: number; totalTimeout: number } {
  return {
    idleTimeout: timeout?.idle ?? core.options.timeout?.idle ?? DEFAULT_IDLE_TIMEOUT,
    totalTimeout: Math.max(0, endsAt - core.clock.now()),
  };
}

/** Waits for something that a call needs, within its timeouts. Rejects if the caller aborts the call or closes the client. */
export async function waitFor<T>(call: Call, needed: Promise<T>): Promise<T> {
  const { core, what, options } = call;
  const { waits, closing } = core;
  const id = waits.nextId();
  needed.then(
    () => waits.settle({ jsonrpc: "2.0", id, result: {} }),
    (error: Error) => waits.fail(id, error),
  );
  if (closing.aborted) throw closing.reason;
  const onPaused = (ms: number): void => void (call.endsAt += ms);
  await waits.wait(id, { what, ...limitsOf(call), signal: options.signal, onPaused });
  return needed;
}

/** Waits for an answer of the user. The time that it takes does not count towards the total timeout of the call. */
export async function untimed<T>(call: Call, answer: Promise<T>): Promise<T> {
  const { clock } = call.core;
  const since = clock.now();
  try {
    return await answer;
  } finally {
    call.endsAt += clock.now() - since;
  }
}

/** Returns the open session, or opens one within the timeouts of the call. */
export function sessionFor(call: Call): Awaitable<Session> {
  const { core, options } = call;
  const { current } = core.sessions;
  return current && !options.signal?.aborted ? current : waitFor(call, core.sessions.ensure());
}

export function unexpectedType({ what }: Call, resultType: unknown): LocalError {
  const shown = JSON.stringify(resultType)?.slice(0, 100);
  return new LocalError("invalid_message", `The result of ${what} has the unexpected resultType ${shown}.`);
}

/** Returns how a call ended that failed with `error`. */
export function endOf(error: unknown): Pick<CallEnd, "outcome" | "code"> {
  const code = error instanceof McpError ? error.code : undefined;
  if (error instanceof ToolError) return { outcome: "tool_error", code };
  if (code === "timeout") return { outcome: "timeout", code };
  const isCancelled = code === "aborted" || code === "declined" || code === "cancelled";
  return { outcome: isCancelled ? "cancelled" : "error", code };
}

/** Whether the tool, prompt, template or URI that a request names has no lone surrogate, so that it arrives unchanged. */
export function isWellNamed(params: JsonObject): boolean {
  const { ref } = params;
  return nameOf(params)?.isWellFormed() !== false && (!isObject(ref) || isWellNamed(ref));
}

/** Returns the tool, prompt or URI that a request names. */
export function nameOf({ name, uri }: JsonObject): string | undefined {
  const named = name ?? uri;
  return typeof named === "string" ? named : undefined;
}
