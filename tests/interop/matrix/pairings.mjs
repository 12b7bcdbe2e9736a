// @ts-check
import { own } from "./peers.mjs";

/**
 * @import { Era, Known, Peer, Place, Side, Way } from "./types.ts"
 * @import { Pairing } from "./run-pairing.mjs"
 */

const ourName = "mcparley";

/**
 * All pairings with one peer: our client with its server, and its client with our server, each way and era that it has.
 *
 * @param {Peer} peer
 * @param {readonly Known[]} known
 * @param {Omit<Place, "way">} place
 * @returns {Pairing[]}
 */
export function pairingsWith({ name, server, client }, known, place) {
  return [
    ...combinations(server, (side, way, era) => ({
      client: ourName,
      server: name,
      way,
      era,
      clientCommand: own.client({ ...place, way }),
      serverCommand: side.command({ ...place, way }),
      revision: revisionFor(side, era),
      lacks: side.lacks ?? {},
      names: side.names ?? {},
      known,
    })),
    ...combinations(client, (side, way, era) => ({
      client: name,
      server: ourName,
      way,
      era,
      clientCommand: side.command({ ...place, way }),
      serverCommand: own.server({ ...place, way }),
      revision: "auto",
      lacks: side.lacks ?? {},
      names: {},
      known,
    })),
  ];
}

/** Returns the revision of our client. It negotiates, unless the pairing uses a legacy revision with a server that supports both. @param {Side} side @param {Era} era */
function revisionFor({ eras, legacyRevision = "2025-11-25" }, era) {
  return era === "legacy" && eras.length > 1 ? legacyRevision : "auto";
}

/** @template T @param {Side | undefined} side @param {(side: Side, way: Way, era: Era) => T} make @returns {T[]} */
function combinations(side, make) {
  if (!side) return [];
  return side.ways.flatMap((way) => side.eras.map((era) => make(side, way, era)));
}
