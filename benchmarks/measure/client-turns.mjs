// @ts-check
import path from "node:path";
import { pathToFileURL } from "node:url";
import { clientOf } from "../implementations/clients.mjs";
import { floor, implementations, programOf } from "../implementations/implementations.mjs";
import { onCore } from "./cores.mjs";
import { legacyRevision, modernRevision } from "./http-turns.mjs";
import { Program } from "./program.mjs";
import { turnsOf } from "./turns.mjs";

/** @import { Answers, ClientImplementation, ClientMode, ClientTarget, ClientWay, ClientWork, ServerSettings, Turns } from "../types.ts" */

/** @typedef {ClientWork & { way: ClientWay, mode: ClientMode, answers: Answers, tools: number }} ClientCase */

/** Starts a client and the server that it calls. @param {ClientImplementation} implementation @param {ClientCase} clientCase @param {string} peers @returns {Promise<Turns>} */
export async function clientTurns(implementation, { way, mode, answers, tools, operation, atOnce }, peers) {
  /** @type {ServerSettings} */
  const settings = { way: way === "http" ? "http" : "stdio", mode, answers, tools };
  const serving = way === "http" ? startServer(settings) : undefined;
  const client = startClient(implementation, {
    settings,
    work: { operation, atOnce },
    target: {
      way,
      revision: mode === "modern" ? modernRevision : legacyRevision,
      url: (await serving?.firstLine()) ?? "",
      ...stdioServer(settings, peers),
    },
    peers,
  });
  const turns = await turnsOf({
    load: client,
    cpu: () => client.ask("cpu"),
    end: () => Promise.all([client.end(), serving?.end()]),
  });
  return {
    ...turns,
    async figures() {
      const figures = await turns.figures();
      const { finished, requests } = await client.ask("operations");
      if (way !== "stdio") requireRequests(finished, serving ? await serving.ask("requests") : requests);
      return figures;
    },
  };
}

/** @param {ServerSettings} settings */
function startServer(settings) {
  const file = path.join(import.meta.dirname, "client-server.mjs");
  return new Program({ side: "load", file, args: [JSON.stringify(settings)] });
}

/** @param {ClientImplementation} implementation @param {{ settings: ServerSettings, work: ClientWork, target: Omit<ClientTarget, "answer">, peers: string }} what */
function startClient(implementation, { settings, work, target, peers }) {
  const module = pathToFileURL(clientOf(implementation, peers)).href;
  const job = JSON.stringify({ ...settings, file: module, target, work });
  const file = path.join(import.meta.dirname, "client-run.mjs");
  return new Program({ side: "server", file, args: [job], isProbed: true });
}

/** The command that a client on stdio starts: the server of the floor. @param {ServerSettings} settings @param {string} peers */
function stdioServer(settings, peers) {
  const ofFloor = implementations.find(({ name }) => name === floor);
  if (!ofFloor) throw new Error("The floor is not an implementation.");
  const program = [process.execPath, programOf(ofFloor, peers), JSON.stringify(settings)];
  const [command = "", ...args] = onCore("load", program);
  return { command, args };
}

/** Throws if a client has answered calls from a cache. @param {number} finished @param {number} requests */
function requireRequests(finished, requests) {
  if (requests >= finished) return;
  throw new Error(`The client sent ${requests} requests for ${finished} calls, so its figures include a cache.`);
}
