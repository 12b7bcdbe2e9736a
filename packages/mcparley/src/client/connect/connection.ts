import type { Clock } from "../../rpc/clock.ts";
import { ErrorCode, LocalError, ProtocolError } from "../../rpc/errors.ts";
import {
  type JsonObject,
  type JsonRpcMessage,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcResponse,
  type RequestId,
  classify,
  failure,
  isFailure,
  notification,
  success,
} from "../../rpc/messages.ts";
import { Outbound, type WaitOptions } from "../../rpc/outbound.ts";
import type { Envelope, Transport } from "../../rpc/transport.ts";
import { Notification } from "../../mcp/methods.ts";

/** What a channel does not decide itself. */
export interface ChannelOwner {
  /** Answers a request of the server. Undefined sends no answer; `ProtocolError` is sent as it is. */
  asked(request: JsonRpcRequest, signal: AbortSignal, channel: Channel): Promise<JsonObject | undefined>;
  /** Told of each notification but progress, in order of arrival. */
  notified(message: JsonRpcNotification, channel: Channel): void;
  /** Told of what belongs to no call. */
  report(error: unknown): void;
}

export interface SendOptions extends Omit<WaitOptions, "onAbandoned"> {
  /** The server is not told when this request is given up: `initialize` must not be cancelled, and probes need not. */
  silent?: boolean;
  /**
   * Asks for progress, so that the server can keep the call from timing out. Its token is written into the `_meta` of
   * the params, which have to be the request's own.
   */
  wantsProgress?: boolean;
  envelope?: Envelope | undefined;
  /** Told the id of the request before it is sent. */
  onId?: ((id: RequestId) => void) | undefined;
}

/** So many given-up requests are remembered, that late answers to them are no news. */
const maxAbandoned = 1024;

/** So many requests of the server may wait for an answer at a time, as each may hold a question to a person. */
const maxAsked = 100;

/**
 * One transport and all that is in flight on it: the place where each message that arrives is acted on, strictly in
 * order of arrival, before the next one is looked at.
 */
export class Channel {
  /** Settles with the reason once it takes no new requests. */
  readonly lost: Promise<LocalError>;
  readonly #transport: Transport;
  readonly #owner: ChannelOwner;
  readonly #outbound: Outbound;
  readonly #abandoned = new Set<RequestId>();
  /** The requests of the server that are being answered. */
  readonly #asked = new Map<RequestId, AbortController>();
  /** Ids are counted up, so each number below this one was the id, and the progress token, of a request. */
  #issued = 0;
  #ended: LocalError | undefined;
  #wasLost = false;
  #retired = false;
  #settleLost!: (reason: LocalError) => void;

  constructor(transport: Transport, clock: Clock, owner: ChannelOwner) {
    this.#transport = transport;
    this.#owner = owner;
    this.#outbound = new Outbound(clock);
    this.lost = new Promise((resolve) => {
      this.#settleLost = resolve;
    });
  }

  get network(): Transport["network"] {
    return this.#transport.network;
  }

  get isOpen(): boolean {
    return this.#ended === undefined && !this.#retired;
  }

  /** Whether the transport ended without having been closed from this side. */
  get wasLost(): boolean {
    return this.#wasLost;
  }

  async open(): Promise<void> {
    await this.#transport.start({
      message: (value) => this.#receive(value),
      failed: (id, error) => {
        this.#outbound.fail(id, error);
        this.#closeIfIdle();
      },
      waits: (id) => this.#outbound.pause(id),
      malformed: (error) => this.#owner.report(error),
      closed: (cause) => {
        this.#wasLost = this.#ended === undefined;
        this.#end(closedError(cause));
      },
    });
  }

  /** Sends a request and waits for its result. */
  request(method: string, params: JsonObject, options: SendOptions): Promise<JsonObject> {
    const { what, idleTimeout, totalTimeout, signal, onProgress, onPaused, envelope, silent = false } = options;
    if (this.#ended) return Promise.reject(this.#ended);
    const id = this.#outbound.nextId();
    this.#issued = id + 1;
    options.onId?.(id);
    const onAbandoned = (reason: string): void => this.#abandon(id, reason, silent);
    const wait = { what, idleTimeout, totalTimeout, signal, onProgress, onPaused, onAbandoned };
    const answer = this.#outbound.wait(id, wait);
    if (signal?.aborted) return answer;
    if (options.wantsProgress) (params._meta as JsonObject).progressToken = id;
    const request: JsonRpcRequest = { jsonrpc: "2.0", id, method, params };
    this.#send(request, envelope, (error) => void this.#outbound.fail(id, error));
    return answer;
  }

  notify(method: string, params?: JsonObject): void {
    if (!this.#ended) this.#send(notification(method, params), undefined, (error) => this.#owner.report(error));
  }

  /** Stops the clocks of all calls in flight, as it cannot be told for which of them a person is being asked. */
  pauseClocks(): () => void {
    return this.#outbound.pauseAll();
  }

  /** Lets what is in flight end, and closes then. */
  retire(): void {
    this.#retired = true;
    this.#settleLost(replaced());
    this.#closeIfIdle();
  }

  /** Fails what is in flight and closes the transport. */
  async close(reason: LocalError = new LocalError("closed", "The client was closed.")): Promise<void> {
    this.#end(reason);
    await this.#transport.close();
  }

  #receive(value: unknown): void {
    if (Array.isArray(value)) for (const one of value) this.#take(one);
    else this.#take(value);
    this.#closeIfIdle();
  }

  #take(value: unknown): void {
    const classified = classify(value);
    switch (classified.kind) {
      case "response":
        return this.#settle(classified.message);
      case "notification":
        return this.#notified(classified.message);
      case "request":
        return void this.#answer(classified.message);
      default: {
        const error = new LocalError("invalid_message", `The server sent an invalid message: ${classified.reason}.`);
        const { id } = classified;
        if (id === undefined || !this.#outbound.fail(id, error)) this.#owner.report(error);
      }
    }
  }

  #settle(response: JsonRpcResponse): void {
    const { id } = response;
    if (this.#outbound.settle(response)) return;
    if (id !== undefined && this.#abandoned.delete(id)) return;
    const said = isFailure(response) ? ` It says: ${response.error.message.slice(0, 200)}` : "";
    const message = `The server answered a request that is not open, with the id ${JSON.stringify(id)}.${said}`;
    this.#owner.report(new LocalError("invalid_message", message));
  }

  #notified(message: JsonRpcNotification): void {
    const { method, params = {} } = message;
    if (method === Notification.progress) return this.#progressed(params);
    const asked = method === Notification.cancelled ? this.#asked.get(params.requestId as RequestId) : undefined;
    if (asked) asked.abort(new LocalError("aborted", "The server does not want an answer any more."));
    else this.#owner.notified(message, this);
  }

  #progressed(params: JsonObject): void {
    const { progressToken: token } = params;
    if (this.#outbound.progress(token, params)) return;
    // Progress may cross an answer or a cancellation on its way: for what was once asked, it is merely late.
    const isLate = Number.isInteger(token) && (token as number) >= 0 && (token as number) < this.#issued;
    if (isLate) return;
    const message = `The server reported progress for the unknown token ${JSON.stringify(token)}.`;
    this.#owner.report(new LocalError("invalid_message", message));
  }

  async #answer(request: JsonRpcRequest): Promise<void> {
    const { id } = request;
    const controller = new AbortController();
    this.#asked.set(id, controller);
    let reply: JsonRpcResponse | undefined;
    try {
      if (this.#asked.size > maxAsked) throw tooMany();
      const result = await this.#owner.asked(request, controller.signal, this);
      if (result) reply = success(id, result);
    } catch (error) {
      reply = failure(id, this.#toProtocolError(error, controller.signal).toBody());
    }
    this.#asked.delete(id);
    if (!reply || controller.signal.aborted || this.#ended) return;
    this.#send(reply, undefined, (error) => this.#owner.report(error));
  }

  /** What went wrong on this side is not for the server: it is told that something did, and `report` what. */
  #toProtocolError(error: unknown, signal: AbortSignal): ProtocolError {
    if (error instanceof ProtocolError) return error;
    if (!signal.aborted) this.#owner.report(error);
    return new ProtocolError(ErrorCode.InternalError, "Internal error");
  }

  #abandon(id: RequestId, reason: string, silent: boolean): void {
    this.#abandoned.add(id);
    if (this.#abandoned.size > maxAbandoned) this.#abandoned.delete(this.#abandoned.values().next().value!);
    if (!silent) this.notify(Notification.cancelled, { requestId: id, reason });
    this.#closeIfIdle();
  }

  #send(message: JsonRpcMessage, envelope: Envelope | undefined, failed: (error: Error) => void): void {
    const fail = (error: unknown): void => failed(error instanceof LocalError ? error : closedError(error));
    try {
      this.#transport.send(message, envelope)?.catch(fail);
    } catch (error) {
      fail(error);
    }
  }

  #closeIfIdle(): void {
    if (!this.#retired || this.#outbound.size > 0 || this.#ended) return;
    void this.close(replaced()).catch(() => {});
  }

  #end(reason: LocalError): void {
    if (this.#ended) return;
    this.#ended = reason;
    for (const controller of this.#asked.values()) controller.abort(reason);
    this.#outbound.failAll(reason);
    this.#settleLost(reason);
  }
}

function tooMany(): ProtocolError {
  return new ProtocolError(ErrorCode.InvalidRequest, `More than ${maxAsked} requests wait for an answer already.`);
}

function replaced(): LocalError {
  return new LocalError("closed", "The session was replaced by a new one.");
}

function closedError(cause: unknown): LocalError {
  if (cause instanceof LocalError) return cause;
  const said = cause instanceof Error ? `: ${cause.message}` : ".";
  return new LocalError("closed", `The connection was closed${said}`, { cause });
}
