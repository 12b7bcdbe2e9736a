// @ts-check
import path from "node:path";
import { pathToFileURL } from "node:url";
import { clientOf, floor, implementations, programOf } from "../implementations/implementations.mjs";
import { onCore } from "./cores.mjs";
import { legacyRevision, modernRevision } from "./http-turns.mjs";
import { Program } from "./program.mjs";
import { turnsOf } from "./turns.mjs";

/** @import { ClientTarget, Implementation, ServerSettings, Turns } from "../types.ts" */

/** @typedef {{ way: "memory" | "http" | "stdio", mode: "stateless" | "modern" }} ClientCase */

/** Starts a client, which calls the server of the floor. @param {Implementation} implementation @param {ClientCase} clientCase @param {string} peers @returns {Promise<Turns>} */
export async function clientTurns(implementation, { way, mode }, peers) {
  /** @type {ServerSettings} */
  const settings = { way: way === "http" ? "http" : "stdio", mode, answers: "json", tools: 2 };
  const [serverOfAll] = implementations.filter(({ name }) => name === floor);
  const server = programOf(/** @type {Implementation} */ (serverOfAll), peers);
  const args = [JSON.stringify(settings)];
  const serving = way === "http" ? new Program({ side: "load", file: server, args }) : undefined;
  const url = (await serving?.firstLine()) ?? "";
  const [command = "", ...rest] = onCore("load", [process.execPath, server, ...args]);
  const revision = mode === "modern" ? modernRevision : legacyRevision;
  /** @type {Omit<ClientTarget, "answer">} */
  const target = { way, revision, url, command, args: rest };
  const job = JSON.stringify({ file: pathToFileURL(clientOf(implementation, peers)).href, target });
  const file = path.join(import.meta.dirname, "client-run.mjs");
  const client = new Program({ side: "server", file, args: [job], isProbed: true });
  return turnsOf({
    load: client,
    cpu: () => client.ask("cpu"),
    end: () => Promise.all([client.end(), serving?.end()]),
  });
}
