// @ts-check
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { packAll, tarballsOf } from "../../scripts/artifact/pack.mjs";
import { installTools } from "../../scripts/npm.mjs";
import { NotAvailable, only, readOptions } from "./runner.mjs";

/** @typedef {import("../../scripts/artifact/pack.mjs").Packed} Packed */

const isWindows = process.platform === "win32";

/** Calls a function with a new temporary folder, whose path has a space, and removes the folder. @param {(folder: string) => Promise<void>} use */
export async function inTemporaryFolder(use) {
  const parent = realpathSync(mkdtempSync(path.join(tmpdir(), "mcparley-first-")));
  const folder = path.join(parent, "first steps");
  mkdirSync(folder);
  try {
    await use(folder);
  } finally {
    rmSync(parent, { recursive: true, force: true });
  }
}

/**
 * Runs a program of the command line for each version of Node that `--node` names: makes a folder, packs the packages, and
 * calls `use`. Prints "not run" if `use` throws `NotAvailable`.
 *
 * @param {string} help
 * @param {(given: { folder: string; label: string; env: NodeJS.ProcessEnv; packed: readonly Packed[]; only: string[] }) => Promise<void>} use
 *   `only` are the values of the option `--only`
 */
export async function withEachNode(help, use) {
  const values = readOptions(help, { node: { type: "string", multiple: true }, only });
  for (const version of values.node ?? [undefined]) {
    const label = `Node ${version ?? process.versions.node}`;
    await inTemporaryFolder(async (folder) => {
      const parent = path.dirname(folder);
      try {
        await use({ folder, label, env: environment(version), packed: packAll(parent), only: values.only });
      } catch (error) {
        if (!(error instanceof NotAvailable)) throw error;
        process.stdout.write(`not run ${label}: ${error.message}\n`);
      }
    });
  }
}

/**
 * Starts a server, and waits for its first output. The caller ends the server with `stop`.
 *
 * @param {string[]} command
 * @param {{ cwd: string; env: NodeJS.ProcessEnv }} options
 */
export async function startServer(command, options) {
  const [program = "", ...args] = command;
  const child = spawn(program, args, { ...options, stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "close");
  const first = await Promise.race([once(child.stdout, "data"), ended.then(() => undefined)]);
  if (!first) throw new Error(`"${command.join(" ")}" ended without output.`);
  const stop = async () => {
    child.kill();
    await ended;
  };
  return { first: String(first[0]), stop };
}

/**
 * Returns the words to install in place of published packages: their tarballs, and those of the packages of this repository
 * on which they depend.
 *
 * @param {readonly string[]} words
 * @param {readonly Packed[]} packed
 */
export function fromTarballs(words, packed) {
  const isOurs = (/** @type {string} */ word) => packed.some(({ name }) => name === word);
  return [...new Set(words.flatMap((word) => (isOurs(word) ? tarballsOf(packed, word) : [word])))];
}

/** Writes the paths of the tarballs in place of the versions of our packages. @param {string} folder @param {readonly Packed[]} packed */
export function useTarballs(folder, packed) {
  const tarballs = new Map(packed.map(({ name, file }) => [name, file]));
  const file = path.join(folder, "package.json");
  const manifest = JSON.parse(readFileSync(file, "utf8"));
  for (const group of [manifest.dependencies, manifest.devDependencies]) {
    for (const name of Object.keys(group)) if (tarballs.has(name)) group[name] = `file:${tarballs.get(name)}`;
  }
  // The packages on which ours depend. They are published together, and the registry does not have them yet.
  manifest.overrides = Object.fromEntries([...tarballs].map(([name, tarball]) => [name, `file:${tarball}`]));
  writeFileSync(file, JSON.stringify(manifest, undefined, 2));
}

/**
 * Returns the environment in which programs use a version of Node, which is installed. Without a version, it is the Node that runs
 * this program.
 *
 * @param {string | undefined} version
 * @returns {NodeJS.ProcessEnv}
 */
function environment(version) {
  const bin = version === undefined ? path.dirname(process.execPath) : installNode(version);
  const env = { ...process.env, PATH: `${bin}${path.delimiter}${process.env.PATH}`, NO_COLOR: "1" };
  // Set by `npm run`. They would describe this repository.
  for (const name of Object.keys(env))
    if (/^npm_(package|lifecycle|command)/.test(name)) Reflect.deleteProperty(env, name);
  return { ...env, npm_config_loglevel: "error", npm_config_audit: "false", npm_config_fund: "false" };
}

/** Returns the folder of a version of Node. @param {string} version */
function installNode(version) {
  const node = `npm:node-${isWindows ? "win" : process.platform}-${process.arch}@${version}`;
  const folder = installTools(path.join("node", version), { node });
  if (folder === undefined) throw new NotAvailable(`Node ${version} cannot be installed.`);
  return path.join(folder, "node_modules/node/bin");
}

/** Returns a port of loopback on which no process listens. @returns {Promise<number>} */
export async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("There is no free port.");
  return address.port;
}
