import { type JsonObject, MetaKey, type Revision } from "../library.ts";
import { type Inbox, isResponse, turns } from "./inbox.ts";
import type { Peer, RequestInit, Wire } from "./peer.ts";

const clientInfo = { name: "raw-peer", version: "1.0.0" };

/** Makes the peer that speaks a revision over a wire, whose messages arrive in the inbox. */
export function makePeer(wire: Wire, inbox: Inbox, revision: Revision, capabilities: JsonObject): Peer {
  let lastId = 0;
  let opened: JsonObject | undefined;

  function paramsOf(params: JsonObject, { meta = {}, bare = false }: RequestInit): JsonObject {
    if (bare) return params;
    const own = params._meta as JsonObject | undefined;
    if (revision.kind === "legacy") {
      return own || Object.keys(meta).length > 0 ? { ...params, _meta: { ...own, ...meta } } : params;
    }
    const carried = {
      [MetaKey.protocolVersion]: revision.version,
      [MetaKey.clientInfo]: clientInfo,
      [MetaKey.clientCapabilities]: capabilities,
    };
    return { ...params, _meta: { ...carried, ...own, ...meta } };
  }

  const peer: Peer = {
    received: inbox.received,
    get opened() {
      return opened;
    },
    request: (method, params, init) => peer.response(peer.start(method, params, init)),
    start(method, params = {}, init = {}) {
      const { id = ++lastId } = init;
      wire.send({ jsonrpc: "2.0", id, method, params: paramsOf(params, init) }, init);
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
      const asked = { protocolVersion: revision.version, capabilities, clientInfo, ...params };
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
