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

/** Reads all hostile texts with one function, in a new process. @param {string} name @returns {Promise<Sample>} */
export async function textSample(name) {
  const module = await bundle("tests/hostile/readers.mjs");
  const job = JSON.stringify({ file: pathToFileURL(module).href, name });
  const file = path.join(import.meta.dirname, "text-run.mjs");
  const program = new Program({ side: "server", file, args: [job], isProbed: true });
  try {
    let message = await program.message();
    while (message.isRunning) message = await program.message();
    if (message.failed !== undefined) throw new Error(message.failed);
    const { sample, text, bytes } = message;
    const part = `${bytes} bytes of ${JSON.stringify(text)}`;
    if (sample.cpu > 100) process.stderr.write(`${name}: ${sample.cpu.toFixed(0)} ms for ${part}\n`);
    return sample;
  } finally {
    await program.end();
  }
}

/** The bundles by their entry. @type {Map<string, Promise<string>>} */
const bundles = new Map();

/** Bundles sources that the packages do not export. @param {string} entry @returns {Promise<string>} the file */
function bundle(entry) {
  const known = bundles.get(entry);
  if (known) return known;
  const outfile = path.join(root, ".tools/benchmarks", `${path.parse(entry).name}.mjs`);
  const made = build({
    entryPoints: [path.join(root, entry)],
    outfile,
    bundle: true,
    platform: "node",
    target: "node20",
    format: "esm",
    // The other form of some packages cannot be bundled.
    mainFields: ["module", "main"],
    external: ["mcparley", "mcparley/*"],
    banner: {
      js: 'import { createRequire as bundledRequire } from "node:module"; const require = bundledRequire(import.meta.url);',
    },
    logLevel: "error",
  }).then(() => outfile);
  bundles.set(entry, made);
  return made;
}

function evaluator() {
  return bundle("tests/support/compile-json-schema.ts");
}
