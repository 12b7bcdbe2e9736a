import type { Awaitable } from "../../rpc/awaitable.ts";
import type { JsonRpcRequest } from "../../rpc/messages.ts";
import type { Relay } from "../../server/core/changes.ts";
import type { Principal } from "../../server/core/context.ts";
import type { ReplyStream } from "./respond.ts";
import type { EndpointContext } from "./endpoint-context.ts";
import type { HttpExchange } from "../exchange.ts";
import type { EventOptions, SessionOptions } from "./options.ts";
import type { HttpSession } from "./sessions/http-session.ts";
import type { SessionTable } from "./sessions/sessions.ts";

/**
 * One server in several processes on one store, as its endpoints in this process use it. `cluster/` implements this
 * interface; it is loaded if the server has a store.
 */
export interface Cluster {
  /** Sends the changes of the server to the other processes. */
  readonly relay: Required<Relay>;
  /** Opens the table of the legacy sessions, and their streams. Each endpoint opens its own, with its own options. */
  openSessions(
    context: EndpointContext,
    options: { limits: SessionOptions; events: EventOptions | undefined },
  ): { sessions: SessionTable; resumption: Resumption };
  /** Opens the relay of HTTP+SSE messages. `receive` is called with messages for sessions of this process. */
  openHttpSse(this: void, receive: ReceivePosted): HttpSseRelay;
  /** Runs an operation that needs the store. Throws a refusal of 503 if the store is unavailable. */
  withStore<T>(this: void, operation: () => Awaitable<T>): Promise<T>;
  /** Called when no endpoint of the server uses it any more. */
  stop(): Promise<void>;
}

/** The streams of legacy sessions, which clients can resume on any process. */
export interface Resumption {
  /** Returns the stream that the reply to these requests may become. Undefined if the revision cannot resume streams. */
  replyStream(session: HttpSession, requests: readonly JsonRpcRequest[]): ReplyStream | undefined;
  /** Opens a stream for messages that belong to no request. */
  open(exchange: HttpExchange, session: HttpSession): void;
  /** Resumes a stream after an event. Throws a refusal of 400 if the event is unknown. */
  resume(exchange: HttpExchange, session: HttpSession, lastEventId: string): Promise<void>;
  /** Called when the endpoint ends, before its calls are cancelled. */
  stop(): void;
}

/** Called with a message that the client of a session posted to another process. */
export type ReceivePosted = (session: string, value: unknown, principal: Principal | undefined) => void;

/** Forwards the messages of HTTP+SSE clients to the process that has the session's stream. */
export interface HttpSseRelay {
  /** Returns a new session id that all processes know. */
  open(principal: Principal | undefined): Promise<string>;
  /** Returns true if another live process has this session of this caller. */
  isOnOtherNode(id: string, principal: Principal | undefined): Promise<boolean>;
  /** Forwards a posted message to the process of its session. */
  forward(id: string, value: unknown, principal: Principal | undefined): Promise<void>;
  close(id: string): void;
  stop(): Promise<void>;
}

/** An endpoint's use of the cluster of its server. */
export interface ClusterUse {
  load(this: void): Promise<Cluster>;
  /** Ends the use. The last endpoint of the server to leave ends the relay of changes. */
  leave(this: void): Promise<void>;
}
