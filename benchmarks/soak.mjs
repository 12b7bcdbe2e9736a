// @ts-check
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { makeReady } from "../scripts/ready.mjs";
import { Program } from "./measure/program.mjs";
import { alignedTable } from "./report/markdown.mjs";
import { judgeCount, judgeMemory, judgeResources, judgeSurprises } from "./soak/judge.mjs";
import { Tally } from "./soak/tally.mjs";

/** @import { Finding, Held } from "./soak/judge.mjs" */

const help = `npm run soak [-- options]

Lets clients come, drop, hang and misbehave at a steady rate, and then leaves many sessions behind. Fails unless memory
is flat, nothing is left open, and every call settled.

  --minutes N      how long clients come; 10 unless given
  --rate N         how many a second; 20 unless given
  --abandoned N    how many sessions are opened and left then; 100000 unless given
`;

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    rate: { type: "string", default: "20" },
    abandoned: { type: "string", default: "100000" },
    help: { type: "boolean", short: "h", default: false },
  },
});
/** Milliseconds after which the server forgets an idle session. */
const idle = 2_000;
/** How often memory is looked at. */
const moments = 40;
/** Milliseconds that everything has to be closed in: a server gives a request that hangs 60 seconds. */
const closing = 90_000;
const megabyte = 1e6;

setFlagsFromString("--expose-gc");
/** @type {() => void} */
const collect = runInNewContext("gc");

if (values.help) process.stdout.write(help);
else {
  makeReady();
  process.exitCode = await main();
}

async function main() {
  const [minutes, rate, abandoned] = [values.minutes, values.rate, values.abandoned].map(Number);
  if (![minutes, rate, abandoned].every((value) => Number.isFinite(value) && Number(value) >= 0)) {
    process.stderr.write(help);
    return 1;
  }
  const file = path.join(import.meta.dirname, "soak/serve.mjs");
  const server = new Program({ side: "server", file, args: ["http", String(idle)], isProbed: true });
  try {
    const findings = await soak(server, { minutes: minutes ?? 0, rate: rate ?? 0, abandoned: abandoned ?? 0 });
    const rows = findings.map(({ what, isGood, found }) => [what, isGood ? "ok" : "FAILED", found]);
    process.stdout.write(`${alignedTable([["", "", "found"], ...rows]).join("\n")}\n`);
    return findings.every(({ isGood }) => isGood) ? 0 : 1;
  } finally {
    await server.end();
  }
}

/** @param {Program} server @param {{ minutes: number, rate: number, abandoned: number }} amount @returns {Promise<Finding[]>} */
async function soak(server, { minutes, rate, abandoned }) {
  // Imported now, since the library may have been built only a moment ago.
  const { Traffic } = await import("./soak/traffic.mjs");
  const { abandonSessions, stillKnown } = await import("./soak/abandoned.mjs");
  const url = await server.firstLine();
  const port = Number(new URL(url).port);
  const tally = new Tally();
  const traffic = new Traffic({ url, port, tally });
  const before = { server: await heldBy(server), clients: heldHere() };
  /** @type {Held[]} */
  const ofServer = [];
  /** @type {Held[]} */
  const ofClients = [];
  for (let moment = 1; moment <= moments; moment++) {
    await traffic.flow(rate, (minutes * 60) / moments);
    ofServer.push(await heldBy(server));
    ofClients.push(heldHere());
    progress(`${moment}/${moments}`, tally, ofServer.at(-1));
  }
  const present = await traffic.settle(closing);
  const left = await closedDown(server, before);
  const findings = [
    judgeCount("calls settled", tally.begun, tally.settled),
    judgeCount("visitors gone", tally.visits, tally.visits - present),
    judgeCount("calls that ended in the server", ...(await countsOf(url))),
    judgeSurprises(tally.surprises),
    judgeMemory("server", ofServer),
    judgeMemory("clients", ofClients),
    judgeResources("server", before.server, left.server),
    judgeResources("clients, with their children", before.clients, left.clients),
    judgeCount(
      "abandoned sessions forgotten",
      tally.abandoned.length,
      tally.abandoned.length - (await stillKnown(port, tally.abandoned)),
    ),
  ];
  if (abandoned === 0) return findings;
  const lean = await heldBy(server);
  const refused = await abandonSessions(port, abandoned);
  await pause(idle * 2);
  const after = await closedDown(server, before);
  const found = `${lean.heap.toFixed(1)} MB, then ${after.server.heap.toFixed(1)} MB; ${refused} times there was no room`;
  const isGood = after.server.heap <= lean.heap * 1.1 + 1;
  const what = `heap after ${abandoned.toLocaleString("en-US")} abandoned sessions`;
  return [...findings, { what, isGood, found }, judgeResources("server then", before.server, after.server)];
}

/** Waits until everything is closed that is going to be. @param {Program} server @param {{ server: Held, clients: Held }} before */
async function closedDown(server, before) {
  const last = performance.now() + closing;
  for (;;) {
    const left = { server: await heldBy(server), clients: heldHere() };
    const isDone = [
      judgeResources("server", before.server, left.server),
      judgeResources("clients", before.clients, left.clients),
    ].every(({ isGood }) => isGood);
    if (isDone || performance.now() > last) return left;
    await pause(1_000);
  }
}

/** What began and what ended among the handlers of the server. @param {string} url @returns {Promise<[number, number]>} */
async function countsOf(url) {
  const { connect } = await import("mcparley/client");
  const client = await connect(url);
  const { begun, ended } = JSON.parse(String(await client.callTool("counts")));
  await client.close();
  return [begun, ended];
}

/** @param {Program} server @returns {Promise<Held>} */
async function heldBy(server) {
  const { heapUsed, rss } = await server.ask("heap");
  return { heap: heapUsed / megabyte, rss: rss / megabyte, resources: await server.ask("resources") };
}

/** @returns {Held} */
function heldHere() {
  collect();
  const { heapUsed, rss } = process.memoryUsage();
  /** @type {Record<string, number>} */
  const resources = {};
  for (const kind of process.getActiveResourcesInfo()) resources[kind] = (resources[kind] ?? 0) + 1;
  return { heap: heapUsed / megabyte, rss: rss / megabyte, resources };
}

/** @param {string} place @param {Tally} tally @param {Held | undefined} held */
function progress(place, tally, held) {
  const { visits, begun, settled, surprises } = tally;
  const memory = held ? `${held.heap.toFixed(1)} MB of heap, ${held.rss.toFixed(0)} MB in all` : "";
  const calls = `${visits} visits, ${settled} of ${begun} calls settled, ${surprises.size} surprises`;
  process.stderr.write(`${place}: ${calls}; the server holds ${memory}\n`);
}
