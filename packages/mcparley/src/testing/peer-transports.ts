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

/**
 * Returns a target for `openClient` that connects to the given peers, one after another. Opening throws when all are used.
 *
 * @example
 * ```ts
 * import { openClient } from "mcparley/client";
 * import { modernPeer, peerTransports } from "mcparley/testing";
 *
 * const peer = modernPeer({ answers: { "tools/list": () => ({ tools: [], ttlMs: 0, cacheScope: "public" }) } });
 * const client = await openClient(peerTransports(peer));
 * ```
 */
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

/**
 * Returns the server side of a connection of 2026-07-28, controlled by a test. It answers `server/discover`, and the methods
 * in `answers`. The test sends all other responses.
 *
 * @example
 * ```ts
 * import { openClient } from "mcparley/client";
 * import { modernPeer, peerTransports } from "mcparley/testing";
 *
 * const peer = modernPeer();
 * const client = await openClient(peerTransports(peer));
 * const ping = client.callTool("ping");
 * const request = await peer.request("tools/call");
 * peer.answer(request, { resultType: "complete", content: [] });
 * await ping;
 * ```
 */
export function modernPeer(options: { capabilities?: JsonObject; answers?: Answers } = {}): ScriptedPeer {
  const { capabilities = allCapabilities, answers } = options;
  return scriptedPeer({ "server/discover": () => discoverResult(capabilities), ...answers });
}

/**
 * Returns a result of `server/discover` with the given capabilities. Default: all capabilities.
 *
 * @example
 * ```ts
 * import { discoverResult, scriptedPeer } from "mcparley/testing";
 *
 * const peer = scriptedPeer({ "server/discover": () => discoverResult({ tools: {} }) });
 * ```
 */
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
 * Returns the server side of a connection of a revision up to 2025-11-25, controlled by a test. It answers `initialize`, and
 * the methods in `answers`. The test receives `notifications/initialized` and sends all other responses.
 *
 * `version` is the revision that `initialize` selects. Default: 2025-11-25. The test must refuse `server/discover`, or pin
 * the client to the revision.
 *
 * @example
 * ```ts
 * import { openClient } from "mcparley/client";
 * import { legacyPeer, peerTransports } from "mcparley/testing";
 *
 * const peer = legacyPeer();
 * const connecting = openClient(peerTransports(peer), { revision: "2025-11-25" });
 * await peer.notification("notifications/initialized");
 * const client = await connecting;
 * ```
 */
export function legacyPeer(
  options: { version?: string; capabilities?: JsonObject; answers?: Answers } = {},
): ScriptedPeer {
  const { version = latestLegacy.version, capabilities = allCapabilities, answers } = options;
  return scriptedPeer({ initialize: () => initializeResult(version, capabilities), ...answers });
}

/**
 * Returns a result of `initialize` for a revision, with the given capabilities. Default: 2025-11-25, all capabilities.
 *
 * @example
 * ```ts
 * import { initializeResult, scriptedPeer } from "mcparley/testing";
 *
 * const peer = scriptedPeer({ initialize: () => initializeResult("2025-06-18", { tools: {} }) });
 * ```
 */
export function initializeResult(
  version: string = latestLegacy.version,
  capabilities: JsonObject = allCapabilities,
): JsonObject {
  return { protocolVersion: version, capabilities, serverInfo: { name: "scripted", version: "1.0.0" } };
}
