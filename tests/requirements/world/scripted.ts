import type { JsonObject, JsonRpcErrorBody, RequestId, SentRequest } from "../library.ts";
import { Inbox, type Message, isResponse } from "./inbox.ts";

/** How a scripted server answers a method by itself; undefined leaves the request to the proof. */
export type Answers = Record<string, (request: Message) => JsonObject | undefined>;

/**
 * The server's side of a client, played by a proof message by message and the same over every transport: it can be what
 * no well-behaved server is.
 */
export interface Scripted {
  /** All that the client sent, in order. */
  readonly received: readonly Message[];
  /** All HTTP requests of the client, in order; none on other transports. */
  readonly sent: readonly SentRequest[];
  /** Whether the client has ended the connection, which over HTTP cannot be seen. */
  readonly isClosed: boolean;
  /** Waits for the next request for a method that no answer was set for. */
  request(method: string): Promise<Message>;
  notification(method: string): Promise<Message>;
  next(fits: (message: Message) => boolean): Promise<Message>;
  answer(request: { id: RequestId }, result: JsonObject): void;
  refuse(request: { id: RequestId }, error: JsonRpcErrorBody): void;
  /** Sends a notification: in the answer to the given request, otherwise on any open stream. */
  notify(method: string, params?: JsonObject, during?: { id: RequestId }): void;
  /** Sends a request of the server, on the same stream as `notify`. */
  ask(id: RequestId, method: string, params?: JsonObject, during?: { id: RequestId }): Promise<Message>;
  /** Sends any value, as `notify` does. */
  send(value: unknown, during?: { id: RequestId }): void;
  /** Sends any text in place of a message. In memory there is no text. */
  sendText(text: string): void;
  /** The HTTP request that brought a message. */
  httpOf(message: { id: RequestId }): SentRequest;
  close(): void;
}

export interface Way {
  answered(id: RequestId, response: JsonObject): void;
  send(value: unknown, during: { id: RequestId } | undefined): void;
  sendText(text: string): void;
  httpOf(message: { id: RequestId }): SentRequest;
  readonly sent: readonly SentRequest[];
  readonly isClosed: boolean;
  close(): void;
}

/** Receives the client's messages. Answers those with a prepared answer, and stores the others for the proof. */
export function receiver(inbox: Inbox, answers: Answers, answer: (id: RequestId, result: JsonObject) => void) {
  const held = new Inbox();
  const take = (message: Message): void => {
    inbox.received.push(message);
    const isRequest = "method" in message && "id" in message;
    const result = isRequest ? answers[message.method]?.(message) : undefined;
    if (result) queueMicrotask(() => answer(message.id, result));
    else held.put(message);
  };
  return { held, take };
}

/** Makes the scripted server of a way to the client. */
export function makeScripted(way: Way, inbox: Inbox, held: Inbox): Scripted {
  const scripted: Scripted = {
    received: inbox.received,
    sent: way.sent,
    get isClosed() {
      return way.isClosed;
    },
    request: (method) => held.request(method),
    notification: (method) => held.notification(method),
    next: (fits) => held.next(fits),
    answer: ({ id }, result) => way.answered(id, { jsonrpc: "2.0", id, result }),
    refuse: ({ id }, error) => way.answered(id, { jsonrpc: "2.0", id, error }),
    notify: (method, params, during) => way.send({ jsonrpc: "2.0", method, ...(params && { params }) }, during),
    ask(id, method, params, during) {
      way.send({ jsonrpc: "2.0", id, method, ...(params && { params }) }, during);
      return held.next((message) => isResponse(message) && message.id === id);
    },
    send: (value, during) => way.send(value, during),
    sendText: (text) => way.sendText(text),
    httpOf: (message) => way.httpOf(message),
    close: () => way.close(),
  };
  return scripted;
}
