import {
  type JsonObject,
  type JsonRpcErrorBody,
  type JsonRpcMessage,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type RequestId,
  failure,
  isNotification,
  isRequest,
  notification,
} from "../rpc/messages.ts";
import type { Envelope, Receiver, Transport } from "../rpc/transport.ts";

/** A message that a client sent, with its envelope. */
export interface ReceivedMessage {
  /** The received message. */
  message: JsonRpcMessage;
  /** Headers and limits that were sent with the message. */
  envelope: Envelope | undefined;
}

/**
 * The server side of a transport, controlled by a test message by message. It can send invalid messages.
 *
 * Each message is delivered synchronously, before the call that sends it returns.
 */
export interface ScriptedPeer {
  /** The transport to pass to the client. */
  readonly transport: Transport;
  /** The messages that the client sent, in order. */
  readonly arrived: readonly ReceivedMessage[];
  /** Whether the client or `close` has closed the transport. */
  readonly isClosed: boolean;
  /** Returns the next message that was not returned before. Rejects if it is not a request for `method`. */
  request(method: string): Promise<JsonRpcRequest>;
  /** Returns the next message that was not returned before. Rejects if it is not the notification `method`. */
  notification(method: string): Promise<JsonRpcNotification>;
  /** Returns the next message that was not returned before. */
  next(): Promise<JsonRpcMessage>;
  /** Sends a successful response to a request. */
  answer(request: { id: RequestId }, result: JsonObject): void;
  /** Sends an error response to a request. */
  refuse(request: { id: RequestId }, error: JsonRpcErrorBody): void;
  /** Sends a notification. */
  notify(method: string, params?: JsonObject): void;
  /** Sends the client a request. */
  ask(id: RequestId, method: string, params?: JsonObject): void;
  /** Delivers any value. */
  send(value: unknown): void;
  /** Reports to the client that one of its requests could not be delivered, as HTTP transports do. */
  fail(request: { id: RequestId }, error: Error): void;
  /** Reports to the client an input that is not a message. */
  malformed(error: Error): void;
  /** Closes the transport from the server side. */
  close(cause?: Error): void;
}

/**
 * Returns the server side of a transport, controlled by a test. `answers` has functions that respond to requests, by method.
 * The test responds to all other requests.
 *
 * @example
 * ```ts
 * import { scriptedPeer } from "mcparley/testing";
 *
 * const peer = scriptedPeer();
 * peer.transport.start({ message: console.log, malformed: console.error, closed: () => {} });
 * peer.notify("notifications/tools/list_changed"); // calls `message`
 * ```
 */
// oxlint-disable-next-line max-lines-per-function -- The members of the peer share the state of one conversation.
export function scriptedPeer(answers: Record<string, (request: JsonRpcRequest) => JsonObject> = {}): ScriptedPeer {
  const receivedMessages: ReceivedMessage[] = [];
  const untaken: JsonRpcMessage[] = [];
  const takers: ((message: JsonRpcMessage) => void)[] = [];
  let receiver: Receiver | undefined;
  let isClosed = false;

  function take(message: JsonRpcMessage, envelope: Envelope | undefined): void {
    receivedMessages.push({ message, envelope });
    const answer = isRequest(message) ? answers[message.method] : undefined;
    if (answer && isRequest(message)) {
      const { id } = message;
      queueMicrotask(() => deliver({ jsonrpc: "2.0", id, result: answer(message) }));
      return;
    }
    const taker = takers.shift();
    if (taker) taker(message);
    else untaken.push(message);
  }

  function deliver(value: unknown): void {
    if (!receiver) throw new Error("The transport of this peer has not been started.");
    if (!isClosed) receiver.message(value);
  }

  function next(): Promise<JsonRpcMessage> {
    const message = untaken.shift();
    return message ? Promise.resolve(message) : new Promise((resolve) => takers.push(resolve));
  }

  function close(cause?: Error): void {
    if (isClosed) return;
    isClosed = true;
    receiver?.closed(cause);
  }

  return {
    transport: {
      start(transportReceiver) {
        receiver = transportReceiver;
      },
      send(message, envelope) {
        if (isClosed) return;
        for (const one of Array.isArray(message) ? message : [message]) take(one, envelope);
      },
      close: async () => close(),
    },
    arrived: receivedMessages,
    get isClosed() {
      return isClosed;
    },
    next,
    async request(method) {
      const message = await next();
      if (isRequest(message) && message.method === method) return message;
      throw new Error(`Expected a request for ${method}; got ${JSON.stringify(message)}.`);
    },
    async notification(method) {
      const message = await next();
      if (isNotification(message) && message.method === method) return message;
      throw new Error(`Expected the notification ${method}; got ${JSON.stringify(message)}.`);
    },
    answer: ({ id }, result) => deliver({ jsonrpc: "2.0", id, result }),
    refuse: ({ id }, error) => deliver(failure(id, error)),
    notify: (method, params) => deliver(notification(method, params)),
    ask: (id, method, params) => deliver({ jsonrpc: "2.0", id, method, ...(params && { params }) }),
    send: deliver,
    fail: ({ id }, error) => receiver?.failed?.(id, error),
    malformed: (error) => receiver?.malformed(error),
    close,
  };
}
