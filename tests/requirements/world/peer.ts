import type { JsonObject, JsonRpcErrorBody, RequestId } from "../library.ts";
import type { Fits, Message } from "./inbox.ts";

export interface RequestInit {
  id?: RequestId;
  /** Added to the request's `_meta`. */
  meta?: JsonObject;
  /** Headers to replace or add over HTTP. */
  headers?: Record<string, string>;
  /** The params are sent unchanged, without the `_meta` of a modern request. */
  bare?: boolean;
}

/** What went beside an answer over HTTP. */
export interface Carried {
  status: number;
  headers: Headers;
  /** `application/json`, `text/event-stream`, or empty without a body. */
  type: string;
}

/**
 * A scripted client of a server, equal over every transport. It sends any message of a proof, so that it can misbehave.
 */
export interface Peer {
  /** All that the server sent, in order. */
  readonly received: readonly Message[];
  /** The result of `initialize` that opened the session, undefined without a session. */
  readonly opened: JsonObject | undefined;
  /** Sends a request in the form of the revision, and waits for its response. */
  request(method: string, params?: JsonObject, init?: RequestInit): Promise<Message>;
  /** Sends a request without waiting, and returns its id. */
  start(method: string, params?: JsonObject, init?: RequestInit): RequestId;
  response(id: RequestId): Promise<Message>;
  notify(method: string, params?: JsonObject): void;
  /** Sends any value as one message. */
  send(value: unknown): void;
  /** Sends any text in place of a message. In memory there is no text. */
  sendText(text: string): void;
  next(fits: Fits): Promise<Message>;
  nextRequest(method: string): Promise<Message>;
  nextNotification(method: string): Promise<Message>;
  answer(request: Message, result: JsonObject): void;
  refuse(request: Message, error: JsonRpcErrorBody): void;
  /** Cancels a request as the revision and the transport define it. */
  cancel(id: RequestId, reason?: string): void;
  /** Opens a session; `serve` calls it by default. */
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
