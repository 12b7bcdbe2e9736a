// @ts-check
import path from "node:path";
import { lackedBy, revisions, wordFor } from "./sides.mjs";

/**
 * @import { Known } from "../matrix/types.ts"
 * @import { Pairing } from "../matrix/run-pairing.mjs"
 * @import { Place, Runtime, Side } from "./sides.mjs"
 */

/** The other side of each pairing: this library on the Node that runs the script. */
const here = "this Node";

/**
 * A runtime in one role with one revision, and the program that it talks to.
 *
 * @typedef {Pairing & { role: "client" | "server"; by: string }} RuntimePairing
 */

/**
 * All pairings of a runtime: as client and as server, with each transport and each revision.
 *
 * @param {Runtime} runtime
 * @param {Place} place
 * @param {readonly Known[]} known
 * @returns {RuntimePairing[]}
 */
export function pairingsOf(runtime, place, known) {
  const { title } = runtime;
  const file = (/** @type {string} */ name) => path.join(place.project, "matrix/peers/mcparley", name);
  const pairing = (/** @type {Side} */ side, /** @type {string} */ revision) => ({
    transport: side.transport,
    by: side.by,
    revision,
    revisionKind: kindOf(revision),
    lacks: (side.lacks ?? lackedBy)(revision),
    names: {},
    known,
  });
  const asClient = runtime.clients.flatMap((side) =>
    revisions.map((revision) => ({
      ...pairing(side, revision),
      role: /** @type {const} */ ("client"),
      client: title,
      server: here,
      clientCommand: side.command(place, revision),
      serverCommand: { program: process.execPath, args: [file("server.mjs"), wordFor(side.transport, revision)] },
    })),
  );
  const asServer = runtime.servers.flatMap((side) =>
    revisions.map((revision) => {
      const command = side.command(place, revision);
      const own = { program: process.execPath, args: [file("client.mjs")] };
      return {
        ...pairing(side, revision),
        role: /** @type {const} */ ("server"),
        client: side.transport === "port" ? title : here,
        server: `${title} (${side.by})`,
        // A page is both.
        clientCommand: side.transport === "port" ? command : own,
        serverCommand: command,
      };
    }),
  );
  return [...asClient, ...asServer];
}

/** @param {string} revision @returns {Pairing["revisionKind"]} */
function kindOf(revision) {
  return revision === revisions.at(-1) ? "modern" : "legacy";
}
