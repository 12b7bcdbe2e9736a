import { test } from "vitest";
import { byId } from "./data/all.ts";
import { type Requirement, type Version, transportsOf, versionsOf } from "./requirement.ts";
import { type World, makeWorld } from "./world/world.ts";

export type Body = (world: World) => void | Promise<void>;

/** The proofs of a requirement that binds both sides. */
export interface BothSides {
  server: Body;
  client: Body;
}

/** The requirements that the imported modules prove. */
const proven = new Set<string>();

let collecting = false;

/** Imports modules of proofs to read their ids, without adding their tests to this run. */
export async function collect(load: () => Promise<unknown>): Promise<ReadonlySet<string>> {
  collecting = true;
  try {
    await load();
  } finally {
    collecting = false;
  }
  return proven;
}

/**
 * Adds a test for each transport and revision to which the requirement applies, all with the same body.
 *
 * A requirement of both sides takes a body for each. Throws for an id that is not in the data, and for a requirement that has an excuse: delete the excuse.
 */
export function proves(id: string, body: Body | BothSides): void {
  const requirement = unproven(id);
  const isForBoth = typeof body !== "function";
  if (isForBoth !== (requirement.side === "both")) {
    throw new Error(`${id} binds ${requirement.side}: give ${isForBoth ? "one body" : "{ server, client }"}.`);
  }
  proven.add(id);
  if (collecting) return;
  if (isForBoth) {
    fanOut(requirement, `${id} (server)`, body.server);
    fanOut(requirement, `${id} (client)`, body.client);
  } else fanOut(requirement, id, body);
}

/**
 * Adds a test for each revision to which a requirement of a client with a user interface applies. The body runs the command,
 * in which the transport makes no difference.
 */
export function provesInCommand(id: string, body: (version: Version) => Promise<void>): void {
  const requirement = unproven(id);
  if (requirement.side !== "client") throw new Error(`${id} binds ${requirement.side}, and the command is a client.`);
  proven.add(id);
  if (collecting) return;
  for (const version of versionsOf(requirement)) test(`${id} [command, ${version}]`, () => body(version));
}

/** Returns the requirement of an id, to be proven for the first time. */
function unproven(id: string): Requirement {
  const requirement = byId.get(id);
  if (!requirement) throw new Error(`There is no requirement "${id}" in tests/requirements/data.`);
  if (requirement.excuse !== undefined) throw new Error(`${id} is proven and excused: delete its excuse.`);
  if (proven.has(id)) throw new Error(`${id} is proven twice: put both into one body.`);
  return requirement;
}

function fanOut(requirement: Requirement, name: string, body: Body): void {
  for (const version of versionsOf(requirement)) {
    for (const transport of transportsOf(requirement)) {
      test(`${name} [${transport}, ${version}]`, { timeout: 60_000 }, async () => {
        const world = makeWorld(transport, version);
        try {
          await body(world);
        } finally {
          await world.end();
        }
      });
    }
  }
}
