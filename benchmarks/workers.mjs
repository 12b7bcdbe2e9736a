// @ts-check
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { availableParallelism, loadavg } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { Lane } from "./load/lane.mjs";
import { median, quantile } from "./measure/statistics.mjs";
import { alignedTable } from "./report/markdown.mjs";

/** @import { LoadJob } from "./types.ts" */

const help = `npm run bench -- workers [options]

Measures a server in one process, in one worker, and in two workers that share its port (runWorkers). The measurements
alternate, so that other programs on the machine affect all of them. Answers are checked.

  --rounds N   rounds of each measurement (9)
  --only PART  only the parts whose names contain this, such as "work" or "echo session"
  --check      fails if the median of a ratio misses its target
`;

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    rounds: { type: "string", default: "9" },
    check: { type: "boolean", default: false },
    help: { type: "boolean", short: "h", default: false },
  },
});

const program = path.join(import.meta.dirname, "workers/server.mjs");
const question = "How many?";
const hasTaskset = availableParallelism() > 1 && spawnSync("taskset", ["-c", "0", "true"]).status === 0;

/**
 * A part of the measurement. `echo` is a trivial call: all processes of the server are on core 0, and the load is on core 1.
 * `work` takes 5 ms of CPU time: the processes of the server and the load may use both cores.
 *
 * @typedef {object} Part
 * @property {"echo" | "work"} tool
 * @property {"modern" | "session"} mode
 * @property {readonly number[]} workers Numbers of workers. 0 is one process.
 * @property {number} milliseconds of a turn
 * @property {number} turns in a round. Short turns that alternate are affected by other programs in the same way.
 */

/** @typedef {{ perSecond: number, cpu: number, load: number, elapsed: number }} Turn */

/** @type {readonly Part[]} */
const parts = [
  { tool: "work", mode: "modern", workers: [1, 2], milliseconds: 2_000, turns: 1 },
  { tool: "work", mode: "session", workers: [1, 2], milliseconds: 2_000, turns: 1 },
  { tool: "echo", mode: "modern", workers: [0, 1, 2], milliseconds: 150, turns: 5 },
  { tool: "echo", mode: "session", workers: [0, 1, 2], milliseconds: 150, turns: 5 },
];

/** The targets: of the throughput of two workers for work, and of the CPU time of a trivial call. */
const targets = { work: { modern: 1.7, session: 1.5 }, echo: { modern: 1.15, session: 1.15 } };

/** Seconds of CPU time of a process before it is measured. */
const warmUpTime = 1.5;
/** Connections. Both workers always have calls. */
const connections = 16;

if (values.help) process.stdout.write(help);
else process.exitCode = await main();

async function main() {
  process.stdout.write(
    `Load of the machine: ${loadavg()
      .map((load) => load.toFixed(1))
      .join(", ")}\n\n`,
  );
  let missed = 0;
  const chosen = parts.filter(({ tool, mode }) => `${tool} ${mode}`.includes(values.only));
  for (const part of chosen) missed += await measure(part);
  return values.check && missed > 0 ? 1 : 0;
}

/** Measures a part and prints its table. Returns the number of missed targets. @param {Part} part */
async function measure(part) {
  pin(process.pid, part.tool === "echo" ? "1" : "0,1");
  const servers = await Promise.all(part.workers.map((workers) => startServer(part, workers)));
  /** @type {Turn[][]} */
  const turns = servers.map(() => []);
  try {
    for (const server of servers) await server.warmUp();
    for (let round = 0; round < Number(values.rounds) * part.turns; round++) {
      const order = [...servers.keys()];
      for (const index of round % 2 === 0 ? order : order.toReversed()) {
        turns[index]?.push(await /** @type {Server} */ (servers[index]).turn(part.milliseconds));
      }
    }
  } finally {
    await Promise.all(servers.map((server) => server.end()));
  }
  return report(part, turns);
}

/** @typedef {Awaited<ReturnType<typeof startServer>>} Server */

/** @param {Part} part @param {number} workers */
async function startServer({ tool, mode }, workers) {
  const args = [program, String(workers)];
  const command =
    tool === "echo" && hasTaskset ? ["taskset", "-c", "0", process.execPath, ...args] : [process.execPath, ...args];
  const child = spawn(/** @type {string} */ (command[0]), command.slice(1), {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    env: { ...process.env, NODE_ENV: "production" },
  });
  const [{ url }] = await once(child, "message");
  /** @type {LoadJob} */
  const job = {
    port: Number(new URL(url).port),
    connections,
    sessions: mode === "session" ? "one" : "none",
    revision: mode === "session" ? "2025-06-18" : "2026-07-28",
    accept: "application/json, text/event-stream",
    operation: {
      name: tool,
      method: "tools/call",
      params: { name: tool, arguments: { text: question } },
      mirrored: tool,
      expected: { kind: "text", text: question },
    },
  };
  const lanes = Array.from({ length: connections }, () => new Lane(job));
  await Promise.all(lanes.map((lane) => lane.open()));

  async function cpu() {
    child.send("cpu");
    const [message] = await once(child, "message");
    return message.cpu;
  }

  /** Calls for a time. @param {number} milliseconds @returns {Promise<Turn>} */
  async function turn(milliseconds) {
    let answers = 0;
    const [before, load, started] = [await cpu(), process.cpuUsage(), performance.now()];
    await Promise.all(lanes.map((lane) => lane.run(started + milliseconds, () => answers++)));
    const elapsed = performance.now() - started;
    const { user, system } = process.cpuUsage(load);
    const used = (await cpu()) - before;
    return {
      perSecond: (answers * 1_000) / elapsed,
      cpu: used / answers,
      load: (user + system) / elapsed / 10,
      elapsed,
    };
  }

  /** Calls until each process is compiled, whatever else the machine does. */
  async function warmUp() {
    for (let used = 0; used < warmUpTime * Math.max(1, workers);) {
      const { perSecond, cpu, elapsed } = await turn(200);
      used += (perSecond * cpu * elapsed) / 1e9;
    }
  }

  async function end() {
    for (const lane of lanes) lane.stop();
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }

  return { turn, warmUp, end };
}

/** Prints the table of a part. Returns the number of missed targets. @param {Part} part @param {Turn[][]} turns */
function report({ tool, mode, workers }, turns) {
  const isWork = tool === "work";
  const target = targets[tool][mode];
  /** The ratios of the turns of two contenders in the same rounds. @param {number} index @param {number} count the number of workers of the other */
  const ratios = (index, count) => {
    const base = turns[workers.indexOf(count)] ?? [];
    return (turns[index] ?? []).map((turn, round) => figureOf(tool, turn) / figureOf(tool, base[round]));
  };
  const rows = workers.map((count, index) => {
    const own = turns[index] ?? [];
    const column = (/** @type {(turn: Turn) => number} */ of, /** @type {number} */ digits) =>
      range(own.map(of), digits);
    return [
      count === 0 ? "one process" : `${count} worker${count === 1 ? "" : "s"}`,
      column(({ perSecond }) => perSecond, 0),
      column(({ cpu }) => cpu, isWork ? 0 : 1),
      column(({ perSecond, cpu }) => (perSecond * cpu) / 1e6, 2),
      column(({ load }) => load, 1),
      range(ratios(index, 1), 2),
      ...(isWork ? [] : [range(ratios(index, 0), 2)]),
    ];
  });
  const head = ["", "calls/s", "CPU time of a call, µs", "cores used", "load, % of a core"];
  const compared = isWork
    ? [`calls/s against 1 worker, at least ${target}`]
    : [`CPU against 1 worker, at most ${target}`, "CPU against one process"];
  const title = `${isWork ? "5 ms of CPU time" : "Trivial call"}, ${mode === "modern" ? "2026-07-28" : "session"}`;
  process.stdout.write(`${title}\n\n${alignedTable([[...head, ...compared], ...rows]).join("\n")}\n\n`);
  const reached = median(ratios(workers.indexOf(2), 1));
  return (isWork ? reached >= target : reached <= target) ? 0 : 1;
}

/** @param {Part["tool"]} tool @param {Turn | undefined} turn */
function figureOf(tool, turn) {
  return (tool === "work" ? turn?.perSecond : turn?.cpu) ?? NaN;
}

/** The median, and the range of the middle half. @param {readonly number[]} all @param {number} digits */
function range(all, digits) {
  const [lower, upper] = [0.25, 0.75].map((share) => quantile(all, share).toFixed(digits));
  return `${median(all).toFixed(digits)} (${lower} to ${upper})`;
}

/** Moves a process to cores, if the system has `taskset`. @param {number} pid @param {string} cores */
function pin(pid, cores) {
  if (hasTaskset) spawnSync("taskset", ["-a", "-cp", cores, String(pid)]);
}
