import type { JsonObject, JsonRpcErrorBody, RequestId } from "../library.ts";
import type { Fits, Message } from "./inbox.ts";

export interface RequestInit {
  id?: RequestId;
  /** Added to the request's `_meta`. */
  meta?: JsonObject;
  /** Sent instead of, or beside, the headers that belong to the request, where it travels by HTTP. */
  headers?: Record<string, string>;
  /** The params go out as they are, without what a modern request carries. */
  bare?: boolean;
}

/** What went beside an answer over HTTP. */
export interface Carried {
  status: number;
  headers: Headers;
  /** `application/json`, `text/event-stream`, or empty where there is no body. */
  type: string;
}

/**
 * The client's side of a server, message by message and the same over every transport: it sends what a proof says, so
 * that it can be what no well-behaved client is.
 */
export interface Peer {
  /** All that the server sent, in order. */
  readonly received: readonly Message[];
  /** The result of `initialize` that opened the session; undefined where none is open. */
  readonly opened: JsonObject | undefined;
  /** Sends a request, with what belongs to it in this revision, and waits for its response. */
  request(method: string, params?: JsonObject, init?: RequestInit): Promise<Message>;
  /** Sends a request and does not wait; gives its id. */
  start(method: string, params?: JsonObject, init?: RequestInit): RequestId;
  response(id: RequestId): Promise<Message>;
  notify(method: string, params?: JsonObject): void;
  /** Sends any value as one message. */
  send(value: unknown): void;
  /** Sends any text where a message would be; in memory there is no text. */
  sendText(text: string): void;
  next(fits: Fits): Promise<Message>;
  nextRequest(method: string): Promise<Message>;
  nextNotification(method: string): Promise<Message>;
  answer(request: Message, result: JsonObject): void;
  refuse(request: Message, error: JsonRpcErrorBody): void;
  /** Gives a request up in the way of the revision and the transport. */
  cancel(id: RequestId, reason?: string): void;
  /** Opens a session; `serve` has done so unless told otherwise. */
  initialize(params?: JsonObject): Promise<Message>;
  /** What went beside the answer to a message over HTTP; undefined on other transports. */
  carried(id: RequestId | undefined): Carried | undefined;
  /** Waits until the server has done all that it can do without more input. */
  settled(): Promise<void>;
  /** Ends the input, as a client that goes away in an orderly way does. */
  close(): Promise<void>;
}

/** How a peer's messages get to the server. */
export interface Wire {
  send(value: unknown, init?: RequestInit): void;
  sendText(text: string): void;
  cancel(id: RequestId, reason: string | undefined): void;
  /** Called once a session is open. */
  opened(version: string): void;
  carried(id: RequestId | undefined): Carried | undefined;
  close(): Promise<void>;
}
