// @ts-check
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { helloOf } from "../implementations/implementations.mjs";
import { initializeMessage } from "../load/open-session.mjs";
import { onCore } from "./cores.mjs";
import { legacyRevision } from "./http-turns.mjs";
import { Program } from "./program.mjs";
import { median } from "./statistics.mjs";

/** @import { Implementation, Sample } from "../types.ts" */

/** The number of starts of one sample, which is their median. */
const times = 5;
const initialize = `${initializeMessage(legacyRevision)}\n`;

/** Measures the time from the start of a server on stdio to its first answer, and its memory then. @param {Implementation} implementation @param {string} peers @returns {Promise<Sample>} */
export async function startSample(implementation, peers) {
  const file = helloOf(implementation, peers);
  const starts = [];
  for (let time = 0; time < times; time++) starts.push(await startOnce(file));
  const { rss, heapUsed } = await idle(file);
  return { start: median(starts), rss: rss / 1e6, heap: heapUsed / 1e6 };
}

/** @param {string} file */
async function startOnce(file) {
  const [command = "", ...args] = onCore("server", [process.execPath, file]);
  const begun = performance.now();
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "ignore"] });
  const exited = once(child, "exit");
  child.stdin.write(initialize);
  const first = await Promise.race([once(child.stdout, "data"), exited.then(() => undefined)]);
  const took = performance.now() - begun;
  child.kill("SIGKILL");
  await exited;
  checkFirst(String(first?.[0] ?? ""));
  return took;
}

/**
 * Measures the CPU time that 50 tools with schemas of zod add until the first answer of a server on stdio: with the construction of the
 * schemas by zod, and without it. The servers start in turns.
 *
 * @param {string} file @returns {Promise<Sample>}
 */
export async function zodSample(file) {
  const empty = [];
  const unused = [];
  const used = [];
  for (let time = 0; time < times; time++) {
    empty.push(await cpuOfStart([file, "0"]));
    unused.push(await cpuOfStart([file, "50"]));
    used.push(await cpuOfStart([file, "50", "used"]));
  }
  return { added: median(used) - median(unused), total: median(used) - median(empty) };
}

/** Returns the milliseconds of CPU time that a server writes to stderr at its first answer. @param {readonly string[]} args */
async function cpuOfStart(args) {
  const [command = "", ...words] = onCore("server", [process.execPath, ...args]);
  const child = spawn(command, words, { stdio: ["pipe", "pipe", "pipe"] });
  const exited = once(child, "exit");
  child.stdin.write(initialize);
  const [answer, text] = await Promise.race([
    Promise.all([once(child.stdout, "data"), once(child.stderr, "data")]),
    exited.then(() => []),
  ]);
  child.kill("SIGKILL");
  await exited;
  checkFirst(String(answer?.[0] ?? ""));
  return Number(text?.[0]) / 1_000;
}

/** @param {string} file @returns {Promise<{ rss: number, heapUsed: number }>} */
async function idle(file) {
  const program = new Program({ side: "server", file, args: [], isProbed: true, input: "pipe" });
  try {
    const line = program.firstLine();
    program.child.stdin?.write(initialize);
    checkFirst(await line);
    return await program.ask("heap");
  } finally {
    await program.end();
  }
}

/** The floor echoes the request. @param {string} text */
function checkFirst(text) {
  const { id, result, method } = JSON.parse(text);
  if (id !== 0 || (result === undefined && method !== "initialize")) throw new Error(`Answered with ${text}.`);
}

/**
 * The time that the modules of a server on stdio take, in a program that does nothing else. The import is in a file in the folder of the packages, so that their names resolve.
 *
 * @param {Implementation} implementation @param {string} peers @returns {Sample}
 */
export function importSample({ isPeer, stdioImports = [] }, peers) {
  const folder = isPeer ? peers : path.dirname(peers);
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, "import-time.mjs");
  writeFileSync(file, importing(stdioImports));
  const [command = "", ...args] = onCore("server", [process.execPath, file]);
  const taken = Array.from({ length: times }, () => {
    const { status, stdout, stderr } = spawnSync(command, args, { encoding: "utf8" });
    if (status !== 0) throw new Error(stderr.trim().slice(-300));
    return JSON.parse(stdout);
  });
  return { import: median(taken.map(([time]) => time)), cpu: median(taken.map(([, cpu]) => cpu)) / 1_000 };
}

/** @param {readonly string[]} specifiers */
function importing(specifiers) {
  return `
    const begun = performance.now(), before = process.cpuUsage();
    ${specifiers.map((specifier) => `await import(${JSON.stringify(specifier)});`).join("\n    ")}
    const took = performance.now() - begun, { user, system } = process.cpuUsage(before);
    process.stdout.write(JSON.stringify([took, user + system]));
  `;
}
