// @ts-check
import { programOf } from "../implementations/implementations.mjs";
import { expectReport, figuresOf, legacyRevision, loadProgram, modernRevision } from "./http-sample.mjs";
import { Program } from "./program.mjs";

/** @import { Implementation, Operation, Sample, ServerSettings, StdioJob } from "../types.ts" */
/** @import { Amount } from "./http-sample.mjs" */

/**
 * @typedef {object} StdioCase
 * @property {"session" | "modern"} mode
 * @property {Operation} operation
 * @property {number} atOnce
 * @property {Amount} amount
 */

/** Takes a sample of a server on stdio. @param {Implementation} implementation @param {StdioCase} stdioCase @param {string} peers @returns {Promise<Sample>} */
export async function stdioSample(implementation, { mode, operation, atOnce, amount }, peers) {
  /** @type {ServerSettings} */
  const settings = { way: "stdio", mode, answers: "json", tools: 2 };
  /** @type {StdioJob} */
  const job = {
    file: programOf(implementation, peers),
    args: [JSON.stringify(settings)],
    operation,
    revision: mode === "modern" ? modernRevision : legacyRevision,
    atOnce,
    ...amount,
  };
  const asking = new Program({ side: "load", file: loadProgram("stdio-load.mjs"), args: [] });
  asking.tell(job);
  try {
    const message = await asking.message();
    return figuresOf(expectReport(message), message.cpu);
  } finally {
    await asking.end();
  }
}
