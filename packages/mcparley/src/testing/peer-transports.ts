import type { TransportFactory } from "../client/connect/transports.ts";
import type { JsonObject, JsonRpcRequest } from "../rpc/messages.ts";
import { MetaKey } from "../mcp/methods.ts";
import { latestLegacy, latestModern } from "../mcp/revisions/index.ts";
import { type ScriptedPeer, scriptedPeer } from "./scripted-peer.ts";

type Answers = Record<string, (request: JsonRpcRequest) => JsonObject>;

const allCapabilities = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  completions: {},
  logging: {},
};

/** Connects to the scripted peers, one after another. Throws once all are used. */
export function peerTransports(
  ...peers: ScriptedPeer[]
): TransportFactory & { kind: "stream" | "http"; opened: number } {
  return {
    kind: "stream",
    target: "scripted",
    transient: true,
    opened: 0,
    open() {
      const peer = peers[this.opened++];
      if (!peer) throw new Error(`The client dialed a ${this.opened}th time; there are ${peers.length} peers.`);
      return peer.transport;
    },
  };
}

/** Makes a peer that answers `server/discover`. The test sends all other responses. */
export function modernPeer(options: { capabilities?: JsonObject; answers?: Answers } = {}): ScriptedPeer {
  const { capabilities = allCapabilities, answers } = options;
  return scriptedPeer({ "server/discover": () => discoverResult(capabilities), ...answers });
}

/** Returns a result of `server/discover` with the given capabilities. */
export function discoverResult(capabilities: JsonObject = allCapabilities): JsonObject {
  return {
    resultType: "complete",
    supportedVersions: [latestModern.version],
    capabilities,
    ttlMs: 0,
    cacheScope: "public",
    _meta: { [MetaKey.serverInfo]: { name: "scripted", version: "1.0.0" } },
  };
}

/**
 * Makes a peer that answers `initialize`. The test must refuse `server/discover`, or pin the client to the revision. It
 * also receives `notifications/initialized` and sends all other responses.
 */
export function legacyPeer(
  options: { version?: string; capabilities?: JsonObject; answers?: Answers } = {},
): ScriptedPeer {
  const { version = latestLegacy.version, capabilities = allCapabilities, answers } = options;
  return scriptedPeer({ initialize: () => initializeResult(version, capabilities), ...answers });
}

/** Returns a result of `initialize` for a revision, with the given capabilities. */
export function initializeResult(
  version: string = latestLegacy.version,
  capabilities: JsonObject = allCapabilities,
): JsonObject {
  return { protocolVersion: version, capabilities, serverInfo: { name: "scripted", version: "1.0.0" } };
}
