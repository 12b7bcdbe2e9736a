import { memoryPair } from "../../packages/mcparley/src/rpc/memory-transport.ts";
import {
  type JsonObject,
  type JsonRpcFailure,
  type JsonRpcMessage,
  type JsonRpcNotification,
  type JsonRpcRequest,
  type JsonRpcSuccess,
  type RequestId,
} from "../../packages/mcparley/src/rpc/messages.ts";
import type { Transport } from "../../packages/mcparley/src/rpc/transport.ts";
import { MetaKey } from "../../packages/mcparley/src/mcp/methods.ts";

/** Anything that serves a transport, such as a server. */
export interface AttachableServer {
  attach(transport: Transport): Promise<unknown>;
}

/** A response as a test reads it: one of `result` and `error` is there. */
export type RawResponse = { id: RequestId; result: JsonObject; error: JsonRpcFailure["error"] };

/**
 * A scripted client of a server. It sends any message of a test and stores all messages of the server, so that a test can misbehave.
 */
export interface RawPeer {
  /** All that the server sent, in order. */
  readonly received: readonly JsonRpcMessage[];
  /** Sends any value. */
  send(value: unknown): void;
  /** Sends a request with a fresh id, or the given one, and waits for its response. */
  request(method: string, params?: JsonObject, id?: RequestId): Promise<RawResponse>;
  notify(method: string, params?: JsonObject): void;
  /** Waits for the first message, already received or still to come, that fits and was not waited for before. */
  next(fits: (message: JsonRpcMessage) => boolean): Promise<JsonRpcMessage>;
  /** Waits for a request of the server. */
  nextRequest(method: string): Promise<JsonRpcRequest>;
  nextNotification(method: string): Promise<JsonRpcNotification>;
  /** Answers a request of the server. */
  answer(request: JsonRpcRequest, result: JsonObject): void;
  /** Waits until the server has done all that it can do without more input. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

/** The `_meta` of a modern request; `capabilities` are the client's. */
export function modernMeta(version: string, capabilities: JsonObject = {}, more: JsonObject = {}): JsonObject {
  return {
    [MetaKey.protocolVersion]: version,
    [MetaKey.clientInfo]: { name: "raw-peer", version: "1.0.0" },
    [MetaKey.clientCapabilities]: capabilities,
    ...more,
  };
}

/** Attaches a raw peer to a server, in memory. With `meta`, requests carry it unless they bring a `_meta` of their own. */
export async function rawPeer(server: AttachableServer, options: { meta?: JsonObject } = {}): Promise<RawPeer> {
  const [mine, theirs] = memoryPair();
  const received: JsonRpcMessage[] = [];
  const taken = new Set<JsonRpcMessage>();
  const waiting: { fits: (message: JsonRpcMessage) => boolean; resolve: (message: JsonRpcMessage) => void }[] = [];
  let nextId = 1;

  const deliver = (message: JsonRpcMessage): void => {
    received.push(message);
    const index = waiting.findIndex(({ fits }) => fits(message));
    if (index === -1) return;
    taken.add(message);
    waiting.splice(index, 1)[0]?.resolve(message);
  };
  await mine.start({
    message: (value) => (Array.isArray(value) ? value : [value]).forEach((message: JsonRpcMessage) => deliver(message)),
    malformed: () => {},
    closed: () => {},
  });
  await server.attach(theirs);

  const peer: RawPeer = {
    received,
    send: (value) => void mine.send(value as JsonRpcMessage),
    async request(method, params = {}, id = nextId++) {
      const full = options.meta && !("_meta" in params) ? { ...params, _meta: options.meta } : params;
      peer.send({ jsonrpc: "2.0", id, method, params: full });
      const isAnswer = (message: JsonRpcMessage): boolean => !("method" in message) && message.id === id;
      return (await peer.next(isAnswer)) as JsonRpcSuccess & RawResponse;
    },
    notify: (method, params) => peer.send({ jsonrpc: "2.0", method, ...(params && { params }) }),
    next(fits) {
      const there = received.find((message) => !taken.has(message) && fits(message));
      if (!there) return new Promise((resolve) => waiting.push({ fits, resolve }));
      taken.add(there);
      return Promise.resolve(there);
    },
    nextRequest: (method) =>
      peer.next(
        (message) => "method" in message && "id" in message && message.method === method,
      ) as Promise<JsonRpcRequest>,
    nextNotification: (method) =>
      peer.next(
        (message) => "method" in message && !("id" in message) && message.method === method,
      ) as Promise<JsonRpcNotification>,
    answer: (request, result) => peer.send({ jsonrpc: "2.0", id: request.id, result }),
    // Two turns of the event loop: the server acts in microtasks, and ends a round of questions in a timer of 0 ms.
    settled: async () => {
      for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setTimeout(resolve, 0));
    },
    close: () => mine.close(),
  };
  return peer;
}

/** Opens a legacy session in the given revision. */
export async function openSession(
  peer: RawPeer,
  protocolVersion: string,
  capabilities: JsonObject = {},
): Promise<JsonObject> {
  const clientInfo = { name: "raw-peer", version: "1.0.0" };
  const { result } = await peer.request("initialize", { protocolVersion, capabilities, clientInfo });
  peer.notify("notifications/initialized");
  return result;
}
