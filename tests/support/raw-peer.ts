import type { JsonObject, JsonRpcErrorBody, RequestId } from "../../packages/mcparley/src/rpc/messages.ts";
import { MetaKey } from "../../packages/mcparley/src/mcp/methods.ts";
import { findRevision } from "../../packages/mcparley/src/mcp/revisions/index.ts";
import { type Fits, Inbox, type RawMessage, isResponse, turns } from "./raw-message.ts";
import { type AttachableServer, type Carried, type Wire, memoryWire } from "./raw-wires.ts";

/**
 * The client's side of the harness for raw MCP: a scripted client that sends any message to our server and stores all
 * messages of the server, so that a test can misbehave. It works the same over every wire: `rawPeer` opens one in memory,
 * `peerOver` takes any. Tests of HTTP itself use `rawHttp`, one HTTP request at a time. `scripted-server.ts` is the other
 * side, a scripted server for our client.
 */
export interface RawPeer {
  /** All messages of the server, in order. */
  readonly received: readonly RawMessage[];
  /** The result of `initialize` that opened the session. Undefined without a session. */
  readonly opened: JsonObject | undefined;
  /** Sends a request and waits for its response. */
  request(method: string, params?: JsonObject, init?: RawRequestInit): Promise<RawMessage>;
  /** Sends a request without waiting, and returns its id. */
  start(method: string, params?: JsonObject, init?: RawRequestInit): RequestId;
  response(id: RequestId): Promise<RawMessage>;
  notify(method: string, params?: JsonObject): void;
  /** Sends any value as one message. */
  send(value: unknown): void;
  /** Sends any text in place of a message. In memory there is no text. */
  sendText(text: string): void;
  /** Waits for the first message, received or still to come, that fits and was not returned before. */
  next(fits: Fits): Promise<RawMessage>;
  nextRequest(method: string): Promise<RawMessage>;
  nextNotification(method: string): Promise<RawMessage>;
  /** Answers a request of the server with a result. */
  answer(request: { id: RequestId }, result: JsonObject): void;
  /** Answers a request of the server with an error. */
  refuse(request: { id: RequestId }, error: JsonRpcErrorBody): void;
  /** Cancels a request as the revision and the transport define it. */
  cancel(id: RequestId, reason?: string): void;
  /** Opens a session. `params` replace those of the peer's revision and capabilities. */
  initialize(params?: JsonObject): Promise<RawMessage>;
  /** The status and headers of the response to a message over HTTP. Undefined on other transports. */
  carried(id: RequestId | undefined): Carried | undefined;
  /** Waits until the server has done all that it can do without more input. */
  settled(): Promise<void>;
  /** Ends the input, as a client does that closes the connection in an orderly way. */
  close(): Promise<void>;
}

export interface RawRequestInit {
  /** Default: a new id. */
  id?: RequestId;
  /** Added to the request's `_meta`. */
  meta?: JsonObject;
  /** Headers to replace or add over HTTP. */
  headers?: Record<string, string>;
  /** The params are sent unchanged, without the `_meta` of the peer. */
  bare?: boolean;
}

interface PeerOptions {
  /** The revision that `initialize` requests. Default: 2025-11-25. */
  version?: string;
  /** The client's capabilities in `initialize`. Default: none. */
  capabilities?: JsonObject;
  /** The `_meta` of each request, as `modernMeta` makes it. Default: none. */
  meta?: JsonObject;
}

const clientInfo = { name: "raw-peer", version: "1.0.0" };

/** The `_meta` of a modern request; `capabilities` are the client's. */
export function modernMeta(version: string, capabilities: JsonObject = {}, more: JsonObject = {}): JsonObject {
  return {
    [MetaKey.protocolVersion]: version,
    [MetaKey.clientInfo]: clientInfo,
    [MetaKey.clientCapabilities]: capabilities,
    ...more,
  };
}

/** Attaches a raw peer to a server, in memory. */
export async function rawPeer(server: AttachableServer, options: PeerOptions = {}): Promise<RawPeer> {
  const inbox = new Inbox();
  return peerOver(await memoryWire(server, inbox), inbox, options);
}

/** Attaches a raw peer that speaks a revision. Opens a session if the revision is a legacy one. */
export async function openPeer(
  server: AttachableServer,
  version: string,
  capabilities: JsonObject = {},
): Promise<RawPeer> {
  const isModern = findRevision(version)?.kind === "modern";
  const peer = await rawPeer(server, isModern ? { meta: modernMeta(version, capabilities) } : {});
  if (!isModern) await openSession(peer, version, capabilities);
  return peer;
}

/** Opens a legacy session in the given revision, and returns the result of `initialize`. */
export async function openSession(
  peer: RawPeer,
  protocolVersion: string,
  capabilities: JsonObject = {},
): Promise<JsonObject> {
  return (await peer.initialize({ protocolVersion, capabilities })).result;
}

/** Makes a raw peer on a wire, whose messages go to the inbox. */
export function peerOver(wire: Wire, inbox: Inbox, options: PeerOptions = {}): RawPeer {
  const { version: protocolVersion = "2025-11-25", capabilities = {}, meta: common } = options;
  let lastId = 0;
  let opened: JsonObject | undefined;

  function paramsOf(params: JsonObject, { meta, bare = false }: RawRequestInit): JsonObject {
    if (bare || (!common && !meta)) return params;
    return { ...params, _meta: { ...common, ...(params._meta as JsonObject | undefined), ...meta } };
  }

  const peer: RawPeer = {
    received: inbox.received,
    get opened() {
      return opened;
    },
    request: (method, params, init) => peer.response(peer.start(method, params, init)),
    start(method, params = {}, init = {}) {
      const { id = ++lastId } = init;
      wire.send({ jsonrpc: "2.0", id, method, params: paramsOf(params, init) }, init.headers);
      return id;
    },
    response: (id) => inbox.next((message) => isResponse(message) && message.id === id),
    notify: (method, params) => wire.send({ jsonrpc: "2.0", method, ...(params && { params }) }),
    send: (value) => wire.send(value),
    sendText: (text) => wire.sendText(text),
    next: (fits) => inbox.next(fits),
    nextRequest: (method) => inbox.request(method),
    nextNotification: (method) => inbox.notification(method),
    answer: ({ id }, result) => wire.send({ jsonrpc: "2.0", id, result }),
    refuse: ({ id }, error) => wire.send({ jsonrpc: "2.0", id, error }),
    cancel: (id, reason) => wire.cancel(id, reason),
    async initialize(params = {}) {
      const asked = { protocolVersion, capabilities, clientInfo, ...params };
      const answer = await peer.request("initialize", asked, { bare: true });
      if (!("result" in answer)) return answer;
      opened = answer.result;
      wire.opened(String(opened.protocolVersion));
      peer.notify("notifications/initialized");
      return answer;
    },
    carried: (id) => wire.carried(id),
    settled: () => turns(),
    close: () => wire.close(),
  };
  return peer;
}
