import type { JsonObject } from "mcparley";
import type { InProcessServer } from "mcparley/client";
import { type JsonRpcRequest, modernPeer, type ScriptedPeer } from "mcparley/testing";

/** A server in this process whose side of each connection is a peer that a test controls. */
export interface ScriptedServer extends InProcessServer {
  /** The peers of the connections that were opened, in order. */
  readonly peers: readonly ScriptedPeer[];
  /** The peer of the newest connection. */
  readonly peer: ScriptedPeer;
}

type Answers = Record<string, (request: JsonRpcRequest) => JsonObject>;

/** Returns a server whose connections have the peers that `makePeer` returns for them. It can throw to refuse a connection. */
export function scriptedServer(makePeer: (connection: number) => ScriptedPeer): ScriptedServer {
  const peers: ScriptedPeer[] = [];
  return {
    peers,
    get peer() {
      const peer = peers.at(-1);
      if (!peer) throw new Error("No connection was opened.");
      return peer;
    },
    async attach(transport) {
      const peer = makePeer(peers.length);
      peers.push(peer);
      await peer.transport.start({
        message: (message) => void transport.send(message as never),
        malformed: () => {},
        closed: () => void transport.close(),
      });
      await transport.start({
        message: (message) => void peer.transport.send(message as never),
        malformed: () => {},
        closed: () => void peer.transport.close(),
      });
    },
  };
}

/** A tool with this name, as servers send it. */
export function toolNamed(name: string, description = `The tool ${name}.`): JsonObject {
  return { name, description, inputSchema: { type: "object" } };
}

/** Returns a peer that declares tools, and answers `tools/list` with the result of `list` for each request. */
export function toolsPeer(
  list: (request: JsonRpcRequest) => readonly JsonObject[],
  { answers = {}, listChanged = false }: { answers?: Answers; listChanged?: boolean } = {},
): ScriptedPeer {
  return modernPeer({
    capabilities: { tools: { listChanged } },
    answers: { "tools/list": (request) => ({ tools: list(request), ttlMs: 0, cacheScope: "private" }), ...answers },
  });
}
