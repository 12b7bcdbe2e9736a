// @ts-check
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { bundleHost } from "../tests/host/processes/bundle-host.mjs";
import { alignedTable } from "./report/markdown.mjs";

const help = `npm run soak -- host [options]

Kills hosts, and measures the time until the last process of their servers and the watchdog have ended. Fails unless each has
ended within five seconds.

  --kills N   deaths by SIGKILL; each other way to die is used a tenth as often; default 100
  --seed N    selects the moment of each death; default random
`;

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "100" },
    seed: { type: "string", default: String(Math.trunc(Math.random() * 2 ** 31)) },
    help: { type: "boolean", short: "h", default: false },
  },
});

/** Milliseconds within which all processes must have ended. */
const limit = 5_000;
/** Hosts that run at the same time. */
const together = 4;
/** The kinds of the servers of each host, and the number of their processes. */
const kinds = ["obedient", "deaf", "stubborn", "family", "launcher"];
const processes = 7;
const signals = /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP", "SIGSEGV"]);
const commands = ["exit", "throw", "reject", "abort"];
const program = path.join(import.meta.dirname, "../tests/host/processes/programs/host.mjs");

if (values.help) process.stdout.write(help);
else process.exitCode = await main();

async function main() {
  const kills = Number(values.kills);
  if (!(kills >= 1)) {
    process.stderr.write(`${help}\nThe number of kills must be at least 1.\n`);
    return 1;
  }
  const random = generator(Number(values.seed));
  const others = Array.from({ length: Math.ceil(kills / 10) }, () => [...signals, ...commands]).flat();
  const deaths = [...Array.from({ length: kills }, () => "SIGKILL"), ...others].map((how) => ({
    how,
    moment: random(),
  }));
  const folder = await mkdtemp(path.join(tmpdir(), "mcparley host soak-"));
  try {
    const library = path.join(folder, "host.mjs");
    await bundleHost(library);
    const outcomes = await runAll(deaths, folder, library);
    return report(outcomes, await countRunning(folder));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/**
 * @typedef {object} Outcome
 * @property {string} how
 * @property {number} servers the number of processes of servers
 * @property {number} remaining the processes of servers that ran five seconds after the death
 * @property {boolean} watchdogRemains
 * @property {number} ms the time until all had ended
 */

/** @param {{ how: string, moment: number }[]} deaths @param {string} folder @param {string} library */
async function runAll(deaths, folder, library) {
  /** @type {Outcome[]} */
  const outcomes = [];
  const queue = [...deaths.entries()];
  const run = async () => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const [index, death] = next;
      outcomes.push(await die({ ...death, library, file: path.join(folder, `pids-${index}`) }));
      process.stderr.write(`${outcomes.length}/${deaths.length} ${death.how}: ${outcomes.at(-1)?.ms} ms\n`);
    }
  };
  await Promise.all(Array.from({ length: together }, run));
  return outcomes;
}

/**
 * Starts a host with servers, and lets it die. A third of the hosts die while their servers start.
 *
 * @param {{ how: string, moment: number, library: string, file: string }} death
 * @returns {Promise<Outcome>}
 */
async function die({ how, moment, library, file }) {
  await writeFile(file, "");
  const host = spawn(process.execPath, [program, library, file], { stdio: ["pipe", "pipe", "ignore"], detached: true });
  const died = once(host, "exit").then(() => performance.now());
  const lines = createInterface({ input: host.stdout })[Symbol.asyncIterator]();
  await lines.next();
  host.stdin.write(`start obedient\n`);
  const watchdog = JSON.parse((await lines.next()).value).watchdog;
  host.stdin.write(`start ${kinds.join(" ")}\n`);
  if (moment < 1 / 3) await pause(moment * 1_000);
  else {
    await lines.next();
    while ((await pidsOf(file)).length < processes + 1) await pause(5);
  }
  if (how.startsWith("SIG")) process.kill(-(host.pid ?? 0), how);
  else host.stdin.write(`${how}\n`);
  const begin = await died;
  const { isGone, pids } = await waitForEnd(file, watchdog, begin);
  const outcome = { how, servers: pids.length, remaining: 0, watchdogRemains: false };
  const ms = Math.round(performance.now() - begin);
  if (isGone) return { ...outcome, ms };
  const running = (await Promise.all(pids.map(isAlive))).filter(Boolean).length;
  return { ...outcome, remaining: running, watchdogRemains: await isAlive(watchdog), ms };
}

/** Waits until all processes have ended, at most until the limit. @param {string} file @param {number} watchdog @param {number} begin */
async function waitForEnd(file, watchdog, begin) {
  for (;;) {
    // A server that was being started may append its id later.
    const pids = await pidsOf(file);
    const running = await Promise.all([...pids, watchdog].map(isAlive));
    const isGone = !running.includes(true);
    if (isGone || performance.now() - begin > limit) return { isGone, pids };
    await pause(10);
  }
}

/** Returns the number of processes of all servers that run, also of those that have written their ids late. @param {string} folder */
async function countRunning(folder) {
  const files = (await readdir(folder)).filter((name) => name.startsWith("pids-"));
  const pids = await Promise.all(files.map((name) => pidsOf(path.join(folder, name))));
  return (await Promise.all(pids.flat().map(isAlive))).filter(Boolean).length;
}

/** @param {string} file */
async function pidsOf(file) {
  return (await readFile(file, "utf8")).split("\n").filter(Boolean).map(Number);
}

/** Returns whether a process exists that has not ended. @param {number} pid */
async function isAlive(pid) {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const stat = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => "");
  return !/\) [ZX] /.test(stat);
}

/** Prints the outcomes, and returns the exit code. @param {Outcome[]} outcomes @param {number} running */
function report(outcomes, running) {
  const rows = [...new Set(outcomes.map(({ how }) => how))].map((how) => {
    const same = outcomes.filter((outcome) => outcome.how === how);
    const sum = (/** @type {(outcome: Outcome) => number} */ read) =>
      String(same.reduce((total, outcome) => total + read(outcome), 0));
    const longest = String(Math.max(...same.map(({ ms }) => ms)));
    const left = [sum(({ remaining }) => remaining), sum(({ watchdogRemains }) => Number(watchdogRemains))];
    return [how, String(same.length), sum(({ servers }) => servers), longest, ...left];
  });
  const head = ["death", "hosts", "processes", "longest time in ms", "remaining processes", "remaining watchdogs"];
  process.stdout.write(`${alignedTable([head, ...rows]).join("\n")}\n`);
  process.stdout.write(`Processes that run at the end: ${running}. Seed: ${values.seed}.\n`);
  if (running > 0) return 1;
  return outcomes.some(({ remaining, watchdogRemains }) => remaining > 0 || watchdogRemains) ? 1 : 0;
}

/** Returns a function that returns numbers from 0 to 1, which are the same for the same seed. @param {number} seed */
function generator(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
