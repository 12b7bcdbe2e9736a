import type { Awaitable } from "../../../rpc/awaitable.ts";
import { type Classified, type JsonRpcMessage, type JsonRpcRequest, encode } from "../../../rpc/messages.ts";
import { Notification } from "../../../mcp/methods.ts";
import type { Link, Reply } from "../../../server/core/call.ts";
import { type Principal, principalKey } from "../../../server/core/context.ts";
import type { Session, SessionSharing } from "../../../server/protocol/session.ts";
import type { HttpExchange } from "../../exchange.ts";
import { EventStream, type Events } from "../event-stream.ts";
import type { OpenExchange, OpenExchanges } from "../open-exchanges.ts";
import type { TableEntry } from "./session-shares.ts";

/** Maximum number of standalone streams of one session. One more ends the oldest. */
const maxStreams = 4;
/** Maximum number of messages that wait while the client has no standalone stream open. */
const maxWaiting = 100;

/** A message without a reply: a notification or a response. */
export type OneWayMessage = Exclude<Classified, { kind: "invalid" | "request" }>;

/**
 * A legacy session that requests name by its id. It is the link for messages that belong to no request.
 *
 * A client may have several standalone streams. Each message is sent on exactly one of them (2025-11-25, Transports,
 * "Multiple Connections"): on the newest, because an older connection may be broken unnoticed. While no stream is open,
 * messages wait. Of several notifications of the same change, only the last one waits.
 */
export class HttpSession implements Link {
  readonly id: string;
  /** Set when the client's `initialize` succeeded. */
  session!: Session;
  /** Set if other processes serve the session as well. */
  readonly sharing?: SessionSharing;
  /** Time at which the session was opened, in milliseconds since the epoch. */
  startedAt: number;
  lastUsed: number;
  /** The caller whose share the session counts for; see `callerKey`. */
  readonly caller: string;
  entry: TableEntry | undefined;
  #streams: StandaloneStream[] | undefined;
  /** The messages that wait for a stream, by `waitingKey`. */
  #waiting: Map<unknown, JsonRpcMessage> | undefined;

  constructor(id: string, now: number, caller: string) {
    this.id = id;
    this.caller = caller;
    this.startedAt = now;
    this.lastUsed = now;
  }

  get network(): "tcp" {
    return "tcp";
  }

  get keptSize(): number {
    return this.session.keptSize;
  }

  /** Whether a call is in flight or a stream is open. A busy session is not idle. */
  get isBusy(): boolean {
    return this.session.inFlight > 0 || (this.#streams !== undefined && this.#streams.length > 0);
  }

  get isOpen(): boolean {
    return this.stream !== undefined;
  }

  /** The stream for messages that belong to no request. Undefined if none is open. */
  get stream(): StandaloneStream | undefined {
    return this.#streams?.at(-1);
  }

  belongsTo(principal: Principal | undefined): boolean {
    const owner = this.session.principal;
    return owner === principal || principalKey(owner) === principalKey(principal);
  }

  /**
   * Processes a notification or a response at once. Errors are reported and do not reach the client: Workers throw if a
   * request uses the streams or signals of another, as a cancellation does.
   */
  receive(incoming: OneWayMessage): Promise<void> | void {
    try {
      if (incoming.kind === "notification") this.session.receiveNotification(incoming.message);
      else this.session.receiveResponse(incoming.message);
    } catch (error) {
      this.session.core.report(error, undefined);
    }
  }

  /** Called before the reply to a request is sent. Returns the reply to send. Sessions in a store save their changes here. */
  beforeReply(_request: JsonRpcRequest, reply: Awaitable<Reply | undefined>): Awaitable<Reply | undefined> {
    return reply;
  }

  send(message: JsonRpcMessage): void {
    if (this.stream) {
      this.stream.sendEncoded(encode(message));
    } else if ("method" in message) {
      this.#waiting ??= new Map();
      this.#waiting.set(waitingKey(message), message);
      if (this.#waiting.size > maxWaiting) this.#waiting.delete(this.#waiting.keys().next().value);
    }
  }

  attach(stream: StandaloneStream): void {
    this.#streams ??= [];
    this.#streams.push(stream);
    if (this.#streams.length > maxStreams) this.#streams.shift()?.endStream();
    for (const message of this.#waiting?.values() ?? []) {
      // The credential that opens the stream may have fewer scopes than the one that subscribed.
      const uri = updatedUri(message);
      if (uri === undefined || this.session.wants({ uri })) stream.sendEncoded(encode(message));
    }
    this.#waiting = undefined;
    this.session.startPings();
  }

  /** Ends the streams of a client that does not answer, so that it opens a new one. */
  reset(cause: Error): void {
    this.session.core.report(cause, undefined);
    this.endStreams();
  }

  detach(stream: StandaloneStream): void {
    this.#streams = this.#streams?.filter((candidate) => candidate !== stream);
    this.onIdle();
  }

  onIdle(): void {
    if (this.isBusy) return;
    this.lastUsed = this.session.core.clock.now();
    this.entry?.endUse();
  }

  /** Ends the standalone streams in an orderly way. */
  endStreams(): void {
    const streams = this.#streams ?? [];
    this.#streams = undefined;
    for (const stream of streams) stream.endStream();
  }

  /** Ends the session, and cancels its calls and its input requests. */
  end(cause: Error): void {
    this.endStreams();
    this.session.end(cause);
  }
}

/** Returns the URI of an updated resource. Undefined for any other message. */
function updatedUri(message: JsonRpcMessage): string | undefined {
  const isUpdate = "method" in message && message.method === Notification.resourceUpdated;
  return isUpdate ? String(message.params?.uri) : undefined;
}

/** Returns the key of a waiting message. A later notification of the same change has the same key; other keys are unique. */
function waitingKey(message: JsonRpcMessage & { method: string }): unknown {
  const uri = updatedUri(message);
  if (uri !== undefined) return `${message.method} ${uri}`;
  return message.method.endsWith("/list_changed") ? message.method : message;
}

/** The response to a GET: a stream for messages that belong to no request of the session (2025-11-25, transports). */
export class StandaloneStream implements OpenExchange {
  due = 0;
  readonly #events: Events;
  readonly #leave: () => void;

  /** `begin` makes the stream, which calls `leave` when the exchange no longer carries it. */
  constructor(
    exchange: HttpExchange,
    { open, session }: { open: OpenExchanges; session: HttpSession },
    begin: (leave: () => void) => Events = () => new EventStream(exchange),
  ) {
    this.#leave = () => {
      open.remove(this);
      session.detach(this);
    };
    this.#events = begin(this.#leave);
    open.add(this);
    session.attach(this);
    exchange.onGone(() => this.endStream());
  }

  /** Sends a message that is already encoded as JSON. */
  sendEncoded(json: string): void {
    this.#events.send(json);
  }

  onInterval(): void {
    this.#events.comment();
  }

  endStream(): void {
    this.#leave();
    this.#events.end();
  }
}
