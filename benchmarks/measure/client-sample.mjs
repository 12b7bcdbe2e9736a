// @ts-check
import path from "node:path";
import { pathToFileURL } from "node:url";
import { clientOf, floor, implementations, programOf } from "../implementations/implementations.mjs";
import { onCore } from "./cores.mjs";
import { expectReport, figuresOf, legacyRevision, modernRevision } from "./http-sample.mjs";
import { Program } from "./program.mjs";

/** @import { ClientTarget, Implementation, Sample, ServerSettings } from "../types.ts" */
/** @import { Amount } from "./http-sample.mjs" */

/** @typedef {{ way: "memory" | "http" | "stdio", mode: "stateless" | "modern", amount: Amount }} ClientCase */

/** Takes a sample of a client, which calls the server of the floor. @param {Implementation} implementation @param {ClientCase} clientCase @param {string} peers @returns {Promise<Sample>} */
export async function clientSample(implementation, { way, mode, amount }, peers) {
  /** @type {ServerSettings} */
  const settings = { way: way === "http" ? "http" : "stdio", mode, answers: "json", tools: 2 };
  const [serverOfAll] = implementations.filter(({ name }) => name === floor);
  const server = programOf(/** @type {Implementation} */ (serverOfAll), peers);
  const args = [JSON.stringify(settings)];
  const serving = way === "http" ? new Program({ side: "load", file: server, args }) : undefined;
  const file = path.join(import.meta.dirname, "client-run.mjs");
  const client = new Program({ side: "server", file, args });
  try {
    const url = (await serving?.firstLine()) ?? "";
    const [command = "", ...rest] = onCore("load", [process.execPath, server, ...args]);
    const revision = mode === "modern" ? modernRevision : legacyRevision;
    /** @type {Omit<ClientTarget, "answer">} */
    const target = { way, revision, url, command, args: rest };
    client.tell({ file: pathToFileURL(clientOf(implementation, peers)).href, target, ...amount });
    const message = await client.message();
    const { perSecond = 0, cpu = 0, p50 = 0, p99 = 0 } = figuresOf(expectReport(message), message.cpu);
    return { cpu, perSecond, p50, p99 };
  } finally {
    await Promise.all([client.end(), serving?.end()]);
  }
}
