import type { Clock } from "../rpc/clock.ts";
import type { JsonObject, JsonRpcNotification } from "../rpc/messages.ts";
import type { PendingRequests } from "../rpc/pending-requests.ts";
import type { LoggingLevel } from "../mcp/logging.ts";
import type { Progress } from "../mcp/progress.ts";
import type { Listing, KnownTools } from "./calls/known-tools.ts";
import type { ClientConnection } from "./connect/client-connection.ts";
import type { Offer, Session, Sessions } from "./connect/session.ts";
import type { TransportFactory } from "./connect/transports.ts";
import type { AnswerInput } from "./input/input-requests.ts";
import type { Cache, Pending } from "./lists/cache.ts";
import type { InputRequestSource, ConnectOptions, RequestOptions } from "./options.ts";
import type { ListenFilter, ServerChange, Subscription } from "./subscriptions/subscription.ts";

/** The parts of a client, for the functions that make its calls. */
export interface ClientCore {
  readonly options: ConnectOptions;
  readonly transports: TransportFactory;
  readonly clock: Clock;
  readonly offer: Offer;
  readonly sessions: Sessions;
  readonly cache: Cache | undefined;
  readonly tools: KnownTools;
  /** Loads the functions that answer the requests of the server for input. */
  readonly input: (this: void) => Promise<InputAnswers>;
  /** The steps of the extensions. Undefined if the client has none with code. */
  extensions: ExtensionSteps | undefined;
  /** Undefined until the first subscription. */
  subscriptions: OpenSubscriptions | undefined;
  /** What calls wait for before they are sent: a session, the list of tools. */
  readonly waits: PendingRequests;
  /** Aborted when the client is closed. */
  readonly closing: AbortSignal;
  readonly running: Set<Call>;
  /** The work of extensions that `close` waits for. */
  readonly pendingWork: Set<PendingWork>;
  /** The log level of modern requests that name none. */
  logLevel: LoggingLevel | undefined;
  /** Lists the tools, and yields after each page the tools that were listed so far. */
  toolPages(this: void, options: RequestOptions): AsyncIterator<Listing, void, undefined>;
  /** Sends a request on behalf of a call of the user. It has no other steps than a repair. With a session, it is not repaired. */
  sendWithin(this: void, request: CallRequest, options: RequestOptions, session?: Session): Promise<JsonObject>;
  /** Makes the description of an input request that is passed to handlers of the host. */
  inputSource(this: void, what: string | undefined, signal: AbortSignal): InputRequestSource;
  /** Reports an error that belongs to no call. */
  report(this: void, error: unknown): void;
}

/** Work of an extension for a call: following its result, or a request that outlives the call. */
export interface PendingWork {
  /** The signal of the followed call. Closing waits for the call only if its caller aborted it. Undefined for a request. */
  readonly signal: AbortSignal | undefined;
  /** Never rejects. */
  readonly end: Promise<unknown>;
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
  /** The milliseconds that the calls of one operation have together. Each call takes its time from it. */
  timeBudget?: { left: number };
}

/** One call of the user, through all its rounds and retries. */
export interface Call {
  readonly core: ClientCore;
  readonly method: string;
  params: JsonObject;
  /** The params without those that extensions have added. Undefined if they have added none. */
  paramsOfCaller: JsonObject | undefined;
  options: CallOptions;
  /** The method and the name in the params, for errors and handlers: `tools/call "add"`. */
  readonly what: string;
  /** The session that the call is sent in. A repair may replace it. */
  session: Session | undefined;
  /** The total timeout in milliseconds, as it was set. */
  readonly totalTimeout: number;
  /** The time at which the total timeout ends. It is moved by the time that a user is asked. */
  endsAt: number;
  /** The request was given to the transport, so the server may have run it. */
  isSent: boolean;
  /** The answers to the input requests of the round before. Undefined in the first round. */
  answers: JsonObject | undefined;
  /** Notes whether the result may be cached. Undefined if it is never cached. */
  pending: Pending | undefined;
  /** The generation of `core.tools` when the tool of the call was looked up. */
  listGeneration: number;
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

/** The functions that answer the requests of the server for input. */
export interface InputAnswers {
  readonly answer: AnswerInput;
  /** Answers the input requests in a result. Returns the params of the next round: the answers and the unchanged state. */
  answersTo(this: void, call: Call, result: JsonObject, round: number): Promise<JsonObject>;
}

/** A result of an earlier call, and the options for following it. */
export interface StoredResult {
  readonly result: JsonObject;
  readonly options: RequestOptions;
}

/** The part of a client that its extensions need. */
export interface ExtensionSteps {
  /** The step of a call: lets the extensions add params and follow the result. */
  readonly extend: Step;
  /** Follows a result that the caller has stored. Undefined if no extension can handle it. */
  followStored(
    this: void,
    core: ClientCore,
    method: string,
    storedResult: StoredResult,
  ): Promise<JsonObject | undefined>;
  /** Waits, for a limited time, until extensions have ended the calls that their callers aborted. */
  finish(this: void, core: ClientCore): Promise<void>;
}

/** The subscriptions of a client. */
export interface OpenSubscriptions {
  /** Whether changes may be missed: a subscription is being opened again, or the stream for its messages is. */
  readonly isReopening: boolean;
  /** Opens a subscription. Settles when the server has acknowledged it. */
  listen(
    filter: ListenFilter,
    onChange: (change: ServerChange) => void,
    options: RequestOptions,
  ): Promise<Subscription>;
  /** Handles a notification that may belong to a subscription. */
  handleNotification(message: JsonRpcNotification, connection: ClientConnection): void;
  /** Handles the loss of a connection. */
  handleLoss(reason: Error, connection: ClientConnection): void;
  /** Handles a break of the stream for the messages of a legacy session, with its cause, and its return. */
  handleInterruption(cause: Error | undefined, connection: ClientConnection): void;
}
