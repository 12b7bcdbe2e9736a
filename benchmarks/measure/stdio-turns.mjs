// @ts-check
import { programOf } from "../implementations/implementations.mjs";
import { legacyRevision, loadProgram, modernRevision } from "./http-turns.mjs";
import { Program } from "./program.mjs";
import { turnsOf } from "./turns.mjs";

/** @import { Implementation, Operation, ServerSettings, StdioJob, Turns } from "../types.ts" */

/**
 * @typedef {object} StdioCase
 * @property {"session" | "modern"} mode
 * @property {Operation} operation
 * @property {number} atOnce
 */

/** Starts a load that starts a server on stdio. @param {Implementation} implementation @param {StdioCase} stdioCase @param {string} peers @returns {Promise<Turns>} */
export async function stdioTurns(implementation, { mode, operation, atOnce }, peers) {
  /** @type {ServerSettings} */
  const settings = { way: "stdio", mode, answers: "json", tools: 2 };
  /** @type {StdioJob} */
  const job = {
    file: programOf(implementation, peers),
    args: [JSON.stringify(settings)],
    operation,
    revision: mode === "modern" ? modernRevision : legacyRevision,
    atOnce,
  };
  const load = new Program({ side: "load", file: loadProgram("stdio-load.mjs"), args: [] });
  load.tell(job);
  return turnsOf({ load, cpu: () => load.ask("cpu"), end: () => load.finish() });
}
