import type { LoggingLevel } from "../../mcp/logging.ts";
import type { Progress } from "../../mcp/progress.ts";
import type { Encoder } from "../../mcp/revisions/encoder.ts";
import type { Revision } from "../../mcp/revisions/revision.ts";
import { type Awaitable, after } from "../../rpc/awaitable.ts";
import type { JsonObject, JsonRpcMessage, JsonRpcResponse, Prepared, RequestId } from "../../rpc/messages.ts";
import type { ServerCore } from "./server-core.ts";
import type { ClientSession, Context, Peer, Principal } from "./context.ts";
import type { InputChannel } from "./input-channel.ts";
import type { InputRequired } from "./input-required.ts";

/** Sends messages about one request to the peer, before its response. */
export interface Link {
  send(message: JsonRpcMessage): void;
  /** Kind of connection. Undefined if client and server are in one process. */
  readonly network?: "tcp" | "pipe" | undefined;
  /** False while messages that belong to no request cannot be sent, because the client has no stream open. */
  readonly isOpen?: boolean;
  /** Called when the last call in flight of a session was answered. */
  onIdle?(): void;
  /** Closes the connection or stream, because the client does not answer. */
  reset?(cause: Error): void;
  /** Keeps the process alive until the promise settles, on platforms that need it. */
  waitUntil?(work: Promise<unknown>): void;
}

/** The response to a request, with its HTTP status. */
export interface Reply {
  message: JsonRpcResponse;
  status: number;
  /** Scopes that the caller needs, if the call was refused for lack of them. */
  scopes?: readonly string[];
}

/** Answers a call by its method. */
export type Answer = (call: Call) => Awaitable<JsonObject | Prepared | InputRequired>;

/** The connection and the options of a request to the client. */
export interface RequestOptions {
  link: Link;
  signal: AbortSignal;
  /** Milliseconds to wait for the response or progress. Default: `limits.askTimeout`, unless there is a `totalTimeout`. */
  timeout?: number;
  /** Milliseconds to wait for the response, in spite of progress. Default: no limit. */
  totalTimeout?: number | undefined;
  onProgress?: ((progress: Progress) => void) | undefined;
}

/** The session of a call, in legacy revisions. */
export interface CallSession extends ClientSession {
  /** The lowest level of log messages to send. Undefined sends none. */
  readonly logLevel: LoggingLevel | undefined;
  /** Whether the session ends with its request, because the endpoint has no sessions. */
  readonly isTransient: boolean;
  /** Answers a method that only sessions have. */
  change(call: Call): JsonObject;
  /** Sends a notification that belongs to no request. Returns false if the session has ended, or ends with its request. */
  send(method: string, params?: JsonObject): boolean;
  /** Sends the client a request once it is ready. Resolves with the result. */
  request(method: string, params: JsonObject, options: RequestOptions): Promise<JsonObject>;
  /** Called before the client is asked to visit a URL, so that its completion is sent to this session. */
  visiting(elicitationId: string): Promise<void>;
}

/** A request from a client. It is also the context of its handler. */
export interface Call extends Context {
  readonly core: ServerCore;
  readonly revision: Revision;
  /** Encodes results and requests for the revision. */
  readonly encoder: Encoder;
  readonly id: RequestId;
  readonly method: string;
  params: JsonObject;
  peer: Peer;
  readonly principal: Principal | undefined;
  /** Undefined in modern revisions, which have no sessions. */
  readonly session: CallSession | undefined;
  /** The URI of the resource that is read, as the client sent it. */
  uri: string;
  /** Ends a stream with its graceful result. Only open streams have it. */
  end: (() => void) | undefined;
  /** Kind of connection. Undefined if client and server are in one process. */
  readonly network: "tcp" | "pipe" | undefined;
  /** Whether the client cancelled the call. Nothing may be sent about it then. */
  readonly cancelled: boolean;
  /**
   * The channel for input requests to the client, with the state of earlier rounds. Rejects if that state belongs to another
   * call.
   */
  readonly input: Promise<InputChannel>;
  /** The channel for input requests. Undefined if the handler has not used it and the request has no `requestState`. */
  readonly startedInput: Promise<InputChannel> | undefined;
  /**
   * Continues the handler after the response to its request, as in a task. Its input requests are then sent on `input`, and
   * its progress is passed to `progress`. Returns a function that aborts the handler's signal.
   */
  outlive(task: { input: InputChannel; progress: (progress: Progress) => void }): (reason: Error) => void;
  /** Keeps the process alive for work that continues after the response, on platforms that need it. */
  waitUntil(work: Promise<unknown>): void;
  /** Aborts the call's signal, and sends nothing more about it. Does nothing if the call is answered already. */
  cancel(reason: Error): void;
  /** Marks the call as answered. Later notifications of its handler are not sent. */
  settle(): void;
  /** Sends a notification that belongs to this call, unless the call is answered or cancelled. */
  send(method: string, params: JsonObject | undefined): void;
}

/** Returns the context of a call's handler: the call, with the properties that the option `context` adds. */
export function handlerContext(call: Call, { definition }: ServerCore = call.core): Awaitable<any> {
  const { context } = definition;
  return context ? after(context(call), (properties) => Object.assign(call, properties)) : call;
}
