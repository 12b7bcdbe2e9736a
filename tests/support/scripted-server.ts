import { PassThrough } from "node:stream";
import { memoryPair } from "../../packages/mcparley/src/rpc/memory-transport.ts";
import type { JsonObject, JsonRpcErrorBody, RequestId } from "../../packages/mcparley/src/rpc/messages.ts";
import type { Transport } from "../../packages/mcparley/src/rpc/transport.ts";
import { streamTransport } from "../../packages/mcparley/src/stdio/stream-transport.ts";
import type { SentRequest } from "./fetch-stub.ts";
import { Inbox, type RawMessage, isRequest, isResponse } from "./raw-message.ts";
import { readLines } from "./raw-wires.ts";

/** Answers of a scripted server, by method. An answer of undefined leaves the request to the test. */
export type Answers = Record<string, (request: RawMessage) => JsonObject | undefined>;

/**
 * The server's side of the harness for raw MCP: a server that a test scripts message by message for our client, so that it
 * can misbehave. It works the same in memory, over stdio, and over HTTP (`scripted-http.ts`). Tests of HTTP itself use
 * `fetchStub`, one HTTP request at a time. `raw-peer.ts` is the other side, a scripted client of our server.
 */
export interface ScriptedServer {
  /** All messages of the client, in order. */
  readonly received: readonly RawMessage[];
  /** All HTTP requests of the client, in order. Empty on other transports. */
  readonly sent: readonly SentRequest[];
  /** Whether the client has closed the connection. Always false over HTTP. */
  readonly isClosed: boolean;
  /** Waits for the next request for a method that has no prepared answer. */
  request(method: string): Promise<RawMessage>;
  notification(method: string): Promise<RawMessage>;
  next(fits: (message: RawMessage) => boolean): Promise<RawMessage>;
  answer(request: { id: RequestId }, result: JsonObject): void;
  refuse(request: { id: RequestId }, error: JsonRpcErrorBody): void;
  /** Sends a notification: in the answer to the given request, otherwise on any open stream. */
  notify(method: string, params?: JsonObject, during?: { id: RequestId }): void;
  /** Sends a request of the server, on the same stream as `notify`. */
  ask(id: RequestId, method: string, params?: JsonObject, during?: { id: RequestId }): Promise<RawMessage>;
  /** Sends any value, as `notify` does. */
  send(value: unknown, during?: { id: RequestId }): void;
  /** Sends any text in place of a message. In memory there is no text. */
  sendText(text: string): void;
  /** The HTTP request that brought a message. */
  httpOf(message: { id: RequestId }): SentRequest;
  close(): void;
}

/** Carries the messages of a scripted server over one transport. */
export interface ScriptedWire {
  answered(id: RequestId, response: JsonObject): void;
  send(value: unknown, during: { id: RequestId } | undefined): void;
  sendText(text: string): void;
  httpOf(message: { id: RequestId }): SentRequest;
  readonly sent: readonly SentRequest[];
  readonly isClosed: boolean;
  close(): void;
}

/** Receives the client's messages. Answers those with a prepared answer, and stores the others for the test. */
export function receiver(
  inbox: Inbox,
  answers: Answers,
  answer: (id: RequestId, result: JsonObject) => void,
): { held: Inbox; take: (message: RawMessage) => void } {
  const held = new Inbox();
  const take = (message: RawMessage): void => {
    inbox.received.push(message);
    const result = isRequest(message) ? answers[message.method]?.(message) : undefined;
    if (result) queueMicrotask(() => answer(message.id, result));
    else held.put(message);
  };
  return { held, take };
}

/** Makes the scripted server on a wire. */
export function scriptedOver(wire: ScriptedWire, inbox: Inbox, held: Inbox): ScriptedServer {
  return {
    received: inbox.received,
    sent: wire.sent,
    get isClosed() {
      return wire.isClosed;
    },
    request: (method) => held.request(method),
    notification: (method) => held.notification(method),
    next: (fits) => held.next(fits),
    answer: ({ id }, result) => wire.answered(id, { jsonrpc: "2.0", id, result }),
    refuse: ({ id }, error) => wire.answered(id, { jsonrpc: "2.0", id, error }),
    notify: (method, params, during) => wire.send({ jsonrpc: "2.0", method, ...(params && { params }) }, during),
    ask(id, method, params, during) {
      wire.send({ jsonrpc: "2.0", id, method, ...(params && { params }) }, during);
      return held.next((message) => isResponse(message) && message.id === id);
    },
    send: (value, during) => wire.send(value, during),
    sendText: (text) => wire.sendText(text),
    httpOf: (message) => wire.httpOf(message),
    close: () => wire.close(),
  };
}

export interface Played {
  /** The client's side. */
  transport: Transport;
  server: ScriptedServer;
}

const noHttp = (): never => {
  throw new Error("This transport has no HTTP requests. Exclude it from the requirement.");
};

/** A scripted server in memory. */
export function memoryScripted(answers: Answers): Played {
  const [mine, transport] = memoryPair();
  const inbox = new Inbox();
  let isClosed = false;
  const send = (value: unknown): void => void mine.send(value as Parameters<Transport["send"]>[0]);
  const { held, take } = receiver(inbox, answers, (id, result) => send({ jsonrpc: "2.0", id, result }));
  const each = (value: unknown): void => {
    for (const message of Array.isArray(value) ? value : [value]) take(message as RawMessage);
  };
  void mine.start({ message: each, malformed: () => {}, closed: () => void (isClosed = true) });
  const sendText = (): never => {
    throw new Error("In memory there is no text. Exclude this transport from the requirement.");
  };
  const wire = {
    answered: (_: unknown, response: unknown) => send(response),
    send,
    sendText,
    httpOf: noHttp,
    sent: [],
    get isClosed() {
      return isClosed;
    },
    close: () => void mine.close(),
  };
  return { transport, server: scriptedOver(wire, inbox, held) };
}

/** A scripted server on two streams of this process, in place of stdin and stdout. */
export function stdioScripted(answers: Answers): Played {
  const toClient = new PassThrough();
  const toServer = new PassThrough();
  const inbox = new Inbox();
  const sendText = (text: string): void => void toClient.write(text);
  const send = (value: unknown): void => sendText(`${JSON.stringify(value)}\n`);
  const { held, take } = receiver(inbox, answers, (id, result) => send({ jsonrpc: "2.0", id, result }));
  readLines(toServer, (line) => {
    const value: unknown = JSON.parse(line);
    for (const message of Array.isArray(value) ? value : [value]) take(message as RawMessage);
  });
  const wire = {
    answered: (_: unknown, response: unknown) => send(response),
    send,
    sendText,
    httpOf: noHttp,
    sent: [],
    get isClosed() {
      return toServer.writableFinished;
    },
    close: () => void toClient.end(),
  };
  return { transport: streamTransport(toClient, toServer), server: scriptedOver(wire, inbox, held) };
}
