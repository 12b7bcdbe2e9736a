// @ts-check
import { own } from "./peers.mjs";

/**
 * @import { RevisionKind, Known, Peer, Place, Side, TransportKind } from "./types.ts"
 * @import { Pairing } from "./run-pairing.mjs"
 */

const ourName = "mcparley";

/**
 * All pairings with one peer: our client with its server, and its client with our server, with each transport and kind of revision that it supports.
 *
 * @param {Peer} peer
 * @param {readonly Known[]} known
 * @param {Omit<Place, "transport">} place
 * @returns {Pairing[]}
 */
export function pairingsWith({ name, server, client }, known, place) {
  return [
    ...serverPairings({ name, server }, own.client, { known, place }),
    ...combinations(client, (side, transport, revisionKind) => ({
      client: name,
      server: ourName,
      transport,
      revisionKind,
      clientCommand: side.command({ ...place, transport }),
      serverCommand: own.server({ ...place, transport }),
      revision: "auto",
      lacks: side.lacks ?? {},
      names: {},
      known,
    })),
  ];
}

/**
 * The pairings of our host with the server of one peer.
 *
 * @param {Peer} peer
 * @param {readonly Known[]} known
 * @param {Omit<Place, "transport">} place
 * @returns {Pairing[]}
 */
export function hostPairingsWith(peer, known, place) {
  return serverPairings(peer, own.host, { known, place });
}

/**
 * @param {{ name: string, server?: import("./types.ts").Side | undefined }} peer
 * @param {(place: Place) => import("./types.ts").Command} client
 * @param {{ known: readonly Known[], place: Omit<Place, "transport"> }} setting
 * @returns {Pairing[]}
 */
function serverPairings({ name, server }, client, { known, place }) {
  return combinations(server, (side, transport, revisionKind) => ({
    client: ourName,
    server: name,
    transport,
    revisionKind,
    clientCommand: client({ ...place, transport }),
    serverCommand: side.command({ ...place, transport }),
    revision: revisionFor(side, revisionKind),
    lacks: side.lacks ?? {},
    names: side.names ?? {},
    known,
  }));
}

/** Returns the revision of our client. It negotiates, unless the pairing uses a legacy revision with a server that supports both. @param {Side} side @param {RevisionKind} revisionKind */
function revisionFor({ revisionKinds, legacyRevision = "2025-11-25" }, revisionKind) {
  return revisionKind === "legacy" && revisionKinds.length > 1 ? legacyRevision : "auto";
}

/** @template T @param {Side | undefined} side @param {(side: Side, transport: TransportKind, revisionKind: RevisionKind) => T} make @returns {T[]} */
function combinations(side, make) {
  if (!side) return [];
  return side.transports.flatMap((transport) =>
    side.revisionKinds.map((revisionKind) => make(side, transport, revisionKind)),
  );
}
