import type { Clock } from "../../rpc/clock.ts";
import { LocalError, hasCode, invalidParams } from "../../rpc/errors.ts";
import { PendingRequests, type WaitOptions } from "../../rpc/pending-requests.ts";
import {
  type JsonObject,
  type JsonRpcMessage,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  type RequestId,
  failure,
  isFailure,
  isObject,
  notification,
} from "../../rpc/messages.ts";
import type { Envelope, Transport } from "../../rpc/transport.ts";
import { Notification } from "../../mcp/methods.ts";
import { checkBudget } from "../../schema/budget.ts";
import { readMessage, readResult } from "../../mcp/read-message.ts";

/** The requests of the server on one connection that have no answer yet. */
export interface IncomingRequests {
  /** Answers a request. The response is sent later. */
  answer(request: JsonRpcRequest): void;
  /** Cancels a request on behalf of the server. Returns false if no such request waits for an answer. */
  cancel(id: unknown): boolean;
  /** Aborts all requests. No further response is sent. */
  end(reason: LocalError): void;
}

/** The handlers of a connection. */
export interface ConnectionHandlers {
  /** Called with each notification except progress, in order of arrival. */
  notification(message: JsonRpcNotification, connection: ClientConnection): void;
  /** Called when a request waits for a user, for example for a sign-in. The returned function is called at the end. */
  waits?(): () => void;
  /** Called when no new requests can be sent. */
  onLost?(reason: LocalError, connection: ClientConnection): void;
  /** Called when messages that belong to no request may be lost, with the cause, and with undefined when they arrive again. */
  onInterrupted?(cause: Error | undefined, connection: ClientConnection): void;
  /** Called with errors that belong to no call. */
  report(error: unknown): void;
}

interface SendOptions extends Omit<WaitOptions, "onAbandoned" | "readResult"> {
  /** Sends no cancellation to the server: `initialize` must not be cancelled, and probes need not. */
  silent?: boolean;
  /**
   * Asks for progress, which resets the idle timeout. The token is written into the `_meta` of the params, which must not
   * be shared with other requests.
   */
  wantsProgress?: boolean;
  envelope?: Envelope | undefined;
  /** Called with the id of the request before it is sent. */
  onId?: ((id: RequestId) => void) | undefined;
}

/** Maximum number of abandoned requests that are remembered. A late response to one of them is not reported. */
const maxAbandoned = 1024;

/** A transport and its messages in flight. Messages are handled strictly in order of arrival. */
export class ClientConnection {
  /** Settles with the reason when no new requests can be sent. */
  readonly loss: Promise<LocalError>;
  /** The transport ended although this side did not close it. */
  wasLost = false;
  /** Messages that belong to no request may be lost at the moment. */
  isInterrupted = false;
  readonly #transport: Transport;
  readonly #handlers: ConnectionHandlers;
  readonly #outbound: PendingRequests;
  readonly #abandoned = new Set<RequestId>();
  /** The receivers of progress after the response to its request, by token. */
  readonly #progressAfter = new Map<unknown, (params: JsonObject) => void>();
  /** Undefined if the server may send no requests. */
  #incoming: IncomingRequests | undefined;
  /** Number of ids that were issued. Each smaller number was the id, and the progress token, of a request. */
  #issuedIds = 0;
  #ended: LocalError | undefined;
  #retired = false;
  #settleLost!: (reason: LocalError) => void;

  constructor(transport: Transport, clock: Clock, handlers: ConnectionHandlers) {
    this.#transport = transport;
    this.#handlers = handlers;
    this.#outbound = new PendingRequests(clock);
    this.loss = new Promise((resolve) => {
      this.#settleLost = resolve;
    });
  }

  get network(): Transport["network"] {
    return this.#transport.network;
  }

  get isOpen(): boolean {
    return this.#ended === undefined && !this.#retired;
  }

  /** Whether the transport limits the number of requests in flight. */
  get hasTurns(): boolean {
    return this.#transport.turn !== undefined;
  }

  /** Waits until a request does not wait for others. */
  async turn(signal: AbortSignal | undefined): Promise<void> {
    await this.#transport.turn?.(signal);
  }

  /** Whether no request can be in flight any more. */
  get hasEnded(): boolean {
    return this.#ended !== undefined;
  }

  async open(): Promise<void> {
    await this.#transport.start({
      message: (value) => {
        for (const message of Array.isArray(value) ? value : [value]) this.#handle(message);
        this.#closeIfIdle();
      },
      failed: (id, error) => {
        this.#outbound.fail(id, error, hasCode(error, "closed", "invalid_message"));
        this.#closeIfIdle();
      },
      waits: (id) => {
        const resume = this.#outbound.pause(id);
        const end = this.#handlers.waits?.();
        return () => {
          resume();
          end?.();
        };
      },
      malformed: (error) => {
        // The likely cause if a request is not answered: a server that prints to stdout.
        this.#outbound.noteFault(`The server sent an invalid message: ${error.message}`);
        this.#handlers.report(error);
      },
      interrupted: (cause) => {
        this.isInterrupted = cause !== undefined;
        this.#handlers.onInterrupted?.(cause, this);
      },
      sessionLost: (cause) => this.retire(toLocalError(cause)),
      closed: (cause) => {
        this.wasLost = this.#ended === undefined;
        this.#end(toLocalError(cause), true);
      },
    });
  }

  /** Sends a request and waits for its result. */
  exchange(method: string, params: JsonObject, options: SendOptions): Promise<JsonObject> {
    const { what, signal, onProgress, onPaused, envelope, silent = false } = options;
    const { idleTimeout, totalTimeout, idleLeft, totalLeft } = options;
    if (this.#ended) return Promise.reject(this.#ended);
    const id = this.#outbound.nextId();
    this.#issuedIds = id + 1;
    options.onId?.(id);
    const onAbandoned = (reason: string): void => this.#abandon(id, reason, silent);
    const wait = {
      what,
      idleTimeout,
      totalTimeout,
      idleLeft,
      totalLeft,
      signal,
      onProgress,
      onPaused,
      onAbandoned,
      readResult: (result: JsonObject) => readWithinLimits(method, what, result),
    };
    const answer = this.#outbound.wait(id, wait);
    if (signal?.aborted) return answer;
    if (options.wantsProgress && isObject(params._meta)) params._meta.progressToken = id;
    const request: JsonRpcRequest = { jsonrpc: "2.0", id, method, params };
    const fail = (error: unknown): void => void this.#outbound.fail(id, toLocalError(error));
    try {
      this.#transport.send(request, envelope)?.catch(fail);
    } catch (error) {
      fail(error);
    }
    return answer;
  }

  /** Sets the requests of the server that are answered. Undefined if the server may send none. */
  accept(incoming: IncomingRequests | undefined): void {
    this.#incoming = incoming;
  }

  /** Sends a response to a request of the server. Never rejects. */
  sendResponse(response: JsonRpcResponse): Promise<void> | undefined {
    return this.#ended ? undefined : this.#sendOneWay(response);
  }

  sendNotification(method: string, params?: JsonObject): void {
    if (!this.#ended) void this.#sendOneWay(notification(method, params));
  }

  /** Calls `onProgress` also with progress that arrives after the response. The returned function ends that. */
  keepProgress(token: RequestId, onProgress: (params: JsonObject) => void): () => void {
    this.#progressAfter.set(token, onProgress);
    if (this.#progressAfter.size > maxAbandoned) this.#progressAfter.delete(this.#progressAfter.keys().next().value);
    return () => this.#progressAfter.delete(token);
  }

  /** Stops the timeouts of all calls in flight until the returned function is called. */
  pauseTimeouts(): () => void {
    return this.#outbound.pauseAll();
  }

  /** Accepts no new requests, and closes when the last request in flight has ended. */
  retire(reason: LocalError = sessionReplaced()): void {
    if (this.#retired) return;
    this.#retired = true;
    this.#lose(reason);
    this.#closeIfIdle();
  }

  /** Notifies the transport whether there are subscribers to messages that belong to no request. */
  needMessages(isNeeded: boolean): void {
    if (!this.#ended) this.#transport.needMessages?.(isNeeded);
  }

  /** Fails the requests in flight and closes the transport. */
  async close(reason: LocalError = new LocalError("closed", "The client was closed.")): Promise<void> {
    this.#end(reason);
    await this.#transport.close();
  }

  #handle(value: unknown): void {
    const classification = readMessage(value);
    if (classification.kind === "notification" || classification.kind === "request") {
      const { method, params } = classification.message;
      const excess = checkBudget(params, limits);
      if (excess !== undefined)
        return this.#refuse(classification.message, tooLarge(`${method.slice(0, 200)} of the server`, excess));
    }
    switch (classification.kind) {
      case "response":
        return this.#settle(classification.message);
      case "notification":
        return this.#handleNotification(classification.message);
      case "request":
        return this.#handleRequest(classification.message);
      default: {
        const error = new LocalError(
          "invalid_message",
          `The server sent an invalid message: ${classification.reason}.`,
        );
        const { id } = classification;
        if (id === undefined || !this.#outbound.fail(id, error)) this.#reportFault(error);
      }
    }
  }

  /** Reports a message that is not handled. A request is answered with the reason. */
  #refuse(message: JsonRpcRequest | JsonRpcNotification, error: LocalError): void {
    this.#handlers.report(error);
    if ("id" in message) void this.sendResponse(failure(message.id, invalidParams(error.message).toBody()));
  }

  #settle(response: JsonRpcResponse): void {
    const { id } = response;
    if (isFailure(response) && checkBudget(response.error.data, limits)) delete response.error.data;
    if (this.#outbound.settle(response)) return;
    if (id !== undefined && this.#abandoned.delete(id)) return;
    const detail = isFailure(response) ? ` Its error: ${response.error.message.slice(0, 200)}` : "";
    const message = `The server sent a response with the unknown id ${JSON.stringify(id)}.${detail}`;
    this.#reportFault(new LocalError("invalid_message", message));
  }

  /** Reports a message that may be meant as the response to a request. The error of that request names it as well. */
  #reportFault(error: LocalError): void {
    this.#outbound.noteFault(error.message, true);
    this.#handlers.report(error);
  }

  #handleRequest(request: JsonRpcRequest): void {
    if (this.#incoming) return this.#incoming.answer(request);
    // No response is sent: modern clients send none (2026-07-28, basic/transports/stdio).
    const message = `The server sent a request, ${request.method.slice(0, 200)}, which its revision does not allow.`;
    this.#handlers.report(new LocalError("invalid_message", message));
  }

  #handleNotification(message: JsonRpcNotification): void {
    const { method, params = {} } = message;
    if (method === Notification.progress) return this.#progressed(params);
    if (method === Notification.cancelled && this.#incoming?.cancel(params.requestId)) return;
    this.#handlers.notification(message, this);
  }

  #progressed(params: JsonObject): void {
    const { progressToken: token } = params;
    if (this.#outbound.progress(token, params)) return;
    const receiver = this.#progressAfter.get(token);
    if (receiver) return receiver(params);
    // Progress may arrive after the response or a cancellation. If the token was a request once, it is only late.
    const isLate = typeof token === "number" && Number.isInteger(token) && token >= 0 && token < this.#issuedIds;
    if (isLate) return;
    const message = `The server reported progress for the unknown token ${JSON.stringify(token)}.`;
    this.#handlers.report(new LocalError("invalid_message", message));
  }

  #abandon(id: RequestId, reason: string, silent: boolean): void {
    this.#abandoned.add(id);
    if (this.#abandoned.size > maxAbandoned) this.#abandoned.delete(this.#abandoned.values().next().value!);
    if (!silent) this.sendNotification(Notification.cancelled, { requestId: id, reason });
    this.#closeIfIdle();
  }

  #sendOneWay(message: JsonRpcMessage): Promise<void> | undefined {
    const fail = (error: unknown): void => {
      // The end of the connection is reported once, and not at all if the program has closed it.
      if (this.#ended && hasCode(error, "closed")) return;
      // The likely cause if a call that waits for this answer is not answered.
      if (!("method" in message))
        this.#outbound.noteFault(
          `The server did not receive the answer to its request: ${toLocalError(error).message}`,
        );
      // A lost session is reported when the connection is retired.
      if (!this.#retired || !hasCode(error, "session_lost")) this.#handlers.report(toLocalError(error));
    };
    try {
      return this.#transport.send(message)?.catch(fail);
    } catch (error) {
      fail(error);
      return undefined;
    }
  }

  #closeIfIdle(): void {
    if (!this.#retired || this.#outbound.size > 0 || this.#ended) return;
    void this.close(sessionReplaced()).catch(() => {});
  }

  #end(reason: LocalError, namesFault: boolean = false): void {
    if (this.#ended) return;
    this.#ended = reason;
    this.#incoming?.end(reason);
    this.#outbound.failAll(reason, namesFault);
    this.#lose(reason);
  }

  #lose(reason: LocalError): void {
    this.#settleLost(reason);
    this.#handlers.onLost?.(reason, this);
  }
}

/** The levels of a value of a server are limited, because more would exhaust the stack of its readers. */
const limits = { depth: 1_000, elements: Infinity };

/**
 * Reads a result. Throws `too_large` for one with too many levels. The entries of lists are read one by one, so that one of them does not
 * take away the others.
 */
function readWithinLimits(method: string, what: string, result: JsonObject): JsonObject {
  const excess = method.endsWith("/list") ? undefined : checkBudget(result, limits);
  if (excess !== undefined) throw tooLarge(`${what}: the result`, excess);
  return readResult(method, result);
}

function tooLarge(what: string, excess: string): LocalError {
  return new LocalError("too_large", `${what} was not read. ${excess}`);
}

function sessionReplaced(): LocalError {
  return new LocalError("closed", "The session was replaced by a new one.");
}

function toLocalError(cause: unknown): LocalError {
  if (cause instanceof LocalError) return cause;
  const reason = cause instanceof Error ? `: ${cause.message}` : ".";
  return new LocalError("closed", `The connection was closed${reason}`, { cause });
}
