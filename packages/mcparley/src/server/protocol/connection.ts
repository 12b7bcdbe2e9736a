import { type Awaitable, after, all, isPromise, recover } from "../../rpc/awaitable.ts";
import { LocalError } from "../../rpc/errors.ts";
import { ErrorCode } from "../../mcp/errors.ts";
import {
  type JsonRpcMessage,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  type RequestId,
  failure,
  isObject,
} from "../../rpc/messages.ts";
import type { Transport } from "../../rpc/transport.ts";
import { Method, Notification } from "../../mcp/methods.ts";
import { readMessage } from "../../mcp/read-message.ts";
import type { Call, Link, Reply } from "../core/call.ts";
import { OpenCall, cancelledFor } from "../dispatch/open-call.ts";
import { answer } from "../dispatch/dispatch.ts";
import type { Principal } from "../core/context.ts";
import { checkPrincipal } from "../core/principal.ts";
import type { ServerCore } from "../core/server-core.ts";
import { reportHidden } from "../observe/warnings.ts";
import { receiveCustom } from "./custom-notifications.ts";
import type { LegacyConnection } from "./legacy.ts";
import { isModernRequest, openCall } from "./modern.ts";
import type { Session } from "./session.ts";

/** A server on one transport. Returned by `attach`. */
export interface Connection {
  /** Settles when the transport is closed and every call on it has ended. */
  readonly closed: Promise<void>;
  /** Calls that are being answered. */
  readonly inFlight: number;
  /** Ends open streams, cancels the calls in flight and closes the transport. */
  close(): Promise<void>;
}

/** The cure for definitions with scopes that callers of a connection cannot use. */
const principalForm =
  '{ principal } to serveStdio, connect or attach of the server; localUser of "mcparley/server" has all scopes.';

/** Maximum number of refusals without an id that wait for the peer to read. Further ones are left out. */
const maxUnreadRefusals = 100;

/**
 * Serves one duplex channel, such as a pipe. It accepts modern requests and at most one legacy session at the same time.
 */
export class ServerConnection implements Connection {
  readonly closed: Promise<void>;
  readonly #core: ServerCore;
  readonly #transport: Transport;
  readonly #principal: Principal | undefined;
  readonly #link: Link;
  /** The modern calls in flight, by id. The session holds those of legacy revisions. */
  readonly #calls = new Map<RequestId, Call>();
  /** The reason for which all calls were cancelled. Undefined while the connection is open. */
  #abortReason: Error | undefined;
  readonly #answering = new Set<Promise<unknown>>();
  /** The subset of `#answering` that are open streams. A stream ends only when one peer ends it. */
  readonly #streams = new Set<Promise<unknown>>();
  #legacy: Awaitable<LegacyConnection> | undefined;
  /** Number of refusals without an id that wait because the peer does not read. */
  #unread = 0;
  #settleClosed!: () => void;

  constructor(core: ServerCore, transport: Transport, principal: Principal | undefined) {
    core.requireOneCopy(LocalError);
    if (principal === undefined) reportHidden(core, `Pass ${principalForm}`);
    else checkPrincipal(principal);
    this.#core = core;
    this.#transport = transport;
    this.#principal = principal;
    this.#link = {
      send: (message) => void this.#send(message),
      network: transport.network,
      reset: (cause) => {
        core.report(cause, undefined);
        this.#abort(cause);
        void transport.close();
      },
    };
    this.closed = new Promise((resolve) => {
      this.#settleClosed = resolve;
    });
  }

  get inFlight(): number {
    return this.#answering.size;
  }

  async open(): Promise<void> {
    await this.#transport.start({
      message: (value) => this.#receive(value),
      malformed: (error) => this.#reply(refusal(undefined, error.message, ErrorCode.ParseError)),
      ended: () => void this.#drain(),
      closed: (cause) => {
        this.#abort(new LocalError("closed", "The connection was closed.", { cause }));
        void Promise.allSettled(this.#answering).then(() => this.#settleClosed());
      },
    });
  }

  async close(): Promise<void> {
    for (const call of this.#calls.values()) call.end?.();
    await Promise.allSettled(this.#streams);
    this.#abort(new LocalError("closed", "The server closed the connection."));
    await this.#transport.close();
    await this.closed;
  }

  #receive(value: unknown): void {
    if (Array.isArray(value)) return this.#track(this.#receiveBatch(value));
    const reply = this.#handle(value);
    if (!isPromise(reply)) return this.#reply(reply);
    const isStream = isObject(value) && value.method === Method.listen;
    const sending = reply.then((ready) => this.#reply(ready));
    this.#track(sending, isStream);
  }

  /**
   * Sends a reply. One without an id belongs to no request, so it is left out if the peer has not read the last ones: a peer
   * that writes malformed lines and reads nothing would otherwise fill the memory.
   */
  #reply(reply: Reply | undefined): void {
    if (!reply) return;
    this.#explain(reply);
    const isRefusal = reply.message.id === undefined;
    if (isRefusal && this.#unread >= maxUnreadRefusals) return;
    const sending = this.#send(reply.message);
    if (!isRefusal || !isPromise(sending)) return;
    this.#unread++;
    void sending.then(() => this.#unread--);
  }

  /** Returns the message of a reply. The refusal of a call for its scopes names the option that grants them. */
  #explain({ message, scopes }: Reply): JsonRpcResponse {
    if (scopes && !this.#principal && "error" in message)
      message.error.message += ` The connection has no principal: pass ${principalForm}`;
    return message;
  }

  /** Handles one message and returns the reply. Starts synchronously, so that messages take effect in order of arrival. */
  #handle(value: unknown): Awaitable<Reply | undefined> {
    const incoming = readMessage(value, this.#core.limits.idLength);
    switch (incoming.kind) {
      case "request":
        return isModernRequest(incoming.message)
          ? this.#answerModern(incoming.message)
          : this.#answerLegacy(incoming.message);
      case "notification":
        this.#receiveNotification(incoming.message);
        return undefined;
      case "response":
        this.#withSession((session) => session.receiveResponse(incoming.message));
        return undefined;
      default:
        return refusal(incoming.id, `Invalid message: ${incoming.reason}.`);
    }
  }

  #answerLegacy(request: JsonRpcRequest): Awaitable<Reply | undefined> {
    if (this.#legacy) return after(this.#legacy, (legacy) => legacy.answer(request));
    // A server on stdio does not need the code of legacy revisions before a legacy client connects.
    const loading = import("./legacy.ts").then(
      ({ LegacyConnection }) => new LegacyConnection(this.#core, { link: this.#link, principal: this.#principal }),
    );
    this.#legacy = loading;
    return loading.then((legacy) => {
      // This is the first continuation, so messages that arrive later are handled after those that already wait.
      this.#legacy = legacy;
      return legacy.answer(request);
    });
  }

  /** Calls `act` with the legacy session if there is one, after everything that was passed to it before. */
  #withSession(act: (session: Session) => void): void {
    if (this.#legacy) void after(this.#legacy, ({ session }) => session && act(session));
  }

  #answerModern(request: JsonRpcRequest): Awaitable<Reply | undefined> {
    const { id } = request;
    const { inFlight } = this.#core.limits;
    if (this.#calls.has(id)) return refusal(id, `A request with the id ${JSON.stringify(id)} is in flight already.`);
    if (this.#calls.size >= inFlight)
      return refusal(id, `More than ${inFlight} calls are in flight. Wait for responses first.`);
    const call = openCall(this.#core, request, { link: this.#link, principal: this.#principal });
    if (!(call instanceof OpenCall)) return call;
    const reply = answer(call);
    if (!isPromise(reply)) return reply;
    this.#calls.set(id, call);
    if (this.#abortReason) call.cancel(this.#abortReason);
    return reply.finally(() => this.#calls.delete(id));
  }

  #receiveNotification(message: JsonRpcNotification): void {
    const { method, params = {} } = message;
    const call = method === Notification.cancelled ? this.#calls.get(params.requestId as RequestId) : undefined;
    if (call) call.cancel(cancelledFor(params.reason));
    else if (this.#legacy) this.#withSession((session) => session.receiveNotification(message));
    else receiveCustom(this.#core, message, undefined);
  }

  async #receiveBatch(batch: unknown[]): Promise<void> {
    const legacy = await this.#legacy;
    const wrong = legacy ? legacy.refuseBatch(batch.length) : 'Send "initialize" before a batch.';
    if (wrong !== undefined) return this.#reply(refusal(undefined, wrong));
    const replies = await all(batch.map((value) => this.#handle(value)));
    const messages = replies.filter((reply) => reply !== undefined).map((reply) => this.#explain(reply));
    if (messages.length > 0) void this.#send(messages);
  }

  #send(message: JsonRpcMessage | JsonRpcResponse[]): Awaitable<void> {
    // Sending fails if a message is not valid JSON, or if the transport is closed.
    const onFailed = (error: unknown): void => {
      this.#core.report(error, undefined);
      if (Array.isArray(message) || !("result" in message)) return;
      const errorReply = refusal(message.id, "Internal error", ErrorCode.InternalError);
      // A closed transport cannot send this error either. The peer is gone, so nothing else can be done.
      void recover<void>(
        () => this.#transport.send(errorReply.message),
        () => {},
      );
    };
    return recover<void>(() => this.#transport.send(message), onFailed);
  }

  #track(answering: Promise<unknown>, isStream = false): void {
    this.#answering.add(answering);
    if (isStream) this.#streams.add(answering);
    void answering.finally(() => {
      this.#answering.delete(answering);
      this.#streams.delete(answering);
    });
  }

  /** Handles the end of the input: ends streams, waits for the calls in flight, then closes the transport. */
  async #drain(): Promise<void> {
    for (const call of this.#calls.values()) call.end?.();
    const cause = new LocalError("closed", "The client closed its side and can no longer respond.");
    this.#withSession((session) => session.failRequests(cause));
    while (this.#answering.size > 0) await Promise.allSettled(this.#answering);
    this.#abort(new LocalError("closed", "The client closed its side."));
    await this.#transport.close();
  }

  #abort(cause: Error): void {
    this.#abortReason = cause;
    for (const call of this.#calls.values()) call.cancel(cause);
    this.#withSession((session) => session.end(cause));
  }
}

/** Makes the reply to a message that is not answered. The id is undefined if it could not be read. */
function refusal(id: RequestId | undefined, message: string, code: number = ErrorCode.InvalidRequest): Reply {
  return { message: failure(id, { code, message }), status: 400 };
}
