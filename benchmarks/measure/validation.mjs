// @ts-check
import path from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { root } from "../../scripts/ready.mjs";
import { Program } from "./program.mjs";
import { turnsOf } from "./turns.mjs";

/** @import { Sample, Turns } from "../types.ts" */

/** The program counts the validations in batches, so that counting takes no time. */
const batch = 100;

/** The module of a compared validator, below `peers/validators`. Undefined for our own. @typedef {string | undefined} Peer */

/**
 * Starts a validator that validates one value when it has its turn.
 *
 * @param {{ peer: Peer, name: string, isValid: boolean }} validation
 * @param {string} peers
 * @returns {Promise<Turns>}
 */
export async function validationTurns({ peer, name, isValid }, peers) {
  const module = peer === undefined ? await evaluator() : path.join(peers, "peers/validators", peer);
  const job = JSON.stringify({ file: pathToFileURL(module).href, name, isValid, batch });
  const file = path.join(import.meta.dirname, "validation-run.mjs");
  const program = new Program({ side: "server", file, args: [job], isProbed: true });
  const turns = await turnsOf({ load: program, cpu: () => program.ask("cpu"), end: () => program.end() });
  return {
    ...turns,
    async figures() {
      const { cpu = NaN, perSecond = NaN } = await turns.figures();
      return { cpu: cpu / batch, perSecond: perSecond * batch };
    },
  };
}

/** Validates the value of a hostile case once, in a new process. @param {string} name @returns {Promise<Sample>} */
export async function hostileSample(name) {
  const job = JSON.stringify({ file: pathToFileURL(await evaluator()).href, name });
  const file = path.join(import.meta.dirname, "hostile-run.mjs");
  const program = new Program({ side: "server", file, args: [job], isProbed: true });
  try {
    const message = await program.message();
    if (message.failed !== undefined) throw new Error(message.failed);
    return message;
  } finally {
    await program.end();
  }
}

/** @type {Promise<string> | undefined} */
let bundled;

/** Bundles the evaluator, which the package does not export. @returns {Promise<string>} the file */
function evaluator() {
  bundled ??= bundle();
  return bundled;
}

async function bundle() {
  const outfile = path.join(root, ".tools/benchmarks/evaluator.mjs");
  await build({
    entryPoints: [path.join(root, "tests/support/compile-json-schema.ts")],
    outfile,
    bundle: true,
    platform: "node",
    target: "node20",
    format: "esm",
    logLevel: "error",
  });
  return outfile;
}
