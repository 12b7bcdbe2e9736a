// @ts-check
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Program } from "./measure/program.mjs";
import { alignedTable } from "./report/markdown.mjs";
import {
  judgeCount,
  judgeLimits,
  judgeMemory,
  judgePeaks,
  judgeResources,
  judgeRest,
  judgeService,
  judgeSurprises,
} from "./soak/judge.mjs";
import { limits, sessions } from "./soak/limits.mjs";
import { Tally } from "./soak/tally.mjs";

/** @import { Finding, Held } from "./soak/judge.mjs" */
/** @import { Attacked } from "./soak/attack.mjs" */
/** @import { ServerCounts } from "./soak/server.mjs" */

const help = `npm run soak [-- options]

Runs ordinary visitors and attackers against one server. Fails unless the ordinary visitors are served, every limit of the server is reached and
holds, memory is flat, and nothing is left open.

  --minutes N        duration of the traffic and the attack; default 10
  --rate N           ordinary visitors per second; default 20
  --abandoned N      sessions to open and abandon afterwards; default 100000
  --without-attack   only ordinary visitors
  --restarts N       restarts of a server whose clients have subscriptions; default 20
  --subscriptions N  subscriptions to open and close; default 10000
  --only-subscriptions   only the restarts and the subscriptions, without visitors
`;

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    rate: { type: "string", default: "20" },
    abandoned: { type: "string", default: "100000" },
    "without-attack": { type: "boolean", default: false },
    restarts: { type: "string", default: "20" },
    subscriptions: { type: "string", default: "10000" },
    "only-subscriptions": { type: "boolean", default: false },
    help: { type: "boolean", short: "h", default: false },
  },
});
/** Number of times that memory is measured. */
const moments = 40;
/** Seconds of traffic before memory at rest is measured for the first time. */
const warmUp = 15;
/** Milliseconds within which everything must be closed. */
const closing = 90_000;
/** The heap of the server during the attack varies with the phase of each attacker. The heap at rest does not. */
const underAttack = { share: 0.3, megabytes: 10 };
const megabyte = 1e6;

setFlagsFromString("--expose-gc");
/** @type {() => void} */
const collect = runInNewContext("gc");

if (values.help) process.stdout.write(help);
else process.exitCode = await main();

async function main() {
  const amounts = [values.minutes, values.rate, values.abandoned, values.restarts, values.subscriptions].map(Number);
  const [minutes, rate, abandoned] = amounts;
  if (!amounts.every((value) => Number.isFinite(value) && value >= 0)) {
    process.stderr.write(help);
    return 1;
  }
  if (values["only-subscriptions"]) return print(await ofSubscriptions());
  const file = path.join(import.meta.dirname, "soak/serve.mjs");
  const server = new Program({ side: "server", file, args: ["http"], isProbed: true });
  try {
    const amount = { minutes: minutes ?? 0, rate: rate ?? 0, abandoned: abandoned ?? 0 };
    const findings = await soak(server, { ...amount, isAttacked: !values["without-attack"] });
    return print([...findings, ...(await ofSubscriptions())]);
  } catch (error) {
    // The server or the attack ended, or did not answer.
    process.stdout.write(`FAILED: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  } finally {
    await server.end();
  }
}

/** Prints the findings. Returns the exit code. @param {readonly Finding[]} findings */
function print(findings) {
  const rows = findings.map(({ what, isGood, found }) => [what, isGood ? "ok" : "FAILED", found]);
  process.stdout.write(`${alignedTable([["", "", "found"], ...rows]).join("\n")}\n`);
  return findings.every(({ isGood }) => isGood) ? 0 : 1;
}

/** Restarts a server whose clients have subscriptions, then opens and closes many subscriptions. @returns {Promise<Finding[]>} */
async function ofSubscriptions() {
  const { manySubscriptions, rollingRestarts } = await import("./soak/subscriptions.mjs");
  const count = Number(values.subscriptions);
  const restarts = Number(values.restarts);
  return [
    ...(restarts > 0 ? await rollingRestarts(restarts) : []),
    ...(count > 0 ? await manySubscriptions(count, collect) : []),
  ];
}

/** @typedef {{ minutes: number, rate: number, abandoned: number, isAttacked: boolean }} Amount */

/** @param {Program} server @param {Amount} amount @returns {Promise<Finding[]>} */
async function soak(server, { minutes, rate, abandoned, isAttacked }) {
  const url = await server.firstLine();
  const port = Number(new URL(url).port);
  const before = { server: await heldBy(server), clients: heldHere() };
  const start = (/** @type {Tally} */ tally) => startVisitors({ url, port, tally }, isAttacked);

  // A first round, so that all code is loaded and compiled when memory at rest is measured.
  const warming = await start(new Tally());
  await warming.traffic.flow(rate, Math.min(warmUp, minutes * 30));
  await warming.end();
  await closedDown(server, before);
  await sessionsEnded();
  const rested = await heldAtRest(server);

  const tally = new Tally();
  server.child.stderr?.on("data", (text) => tally.surprise("stderr of the server", text));
  const visitors = await start(tally);
  /** @type {Held[]} */
  const ofServer = [];
  /** @type {Held[]} */
  const ofClients = [];
  for (let moment = 1; moment <= moments; moment++) {
    await visitors.traffic.flow(rate, (minutes * 60) / moments);
    ofServer.push(await heldBy(server));
    ofClients.push(heldHere());
    progress(`${moment}/${moments}`, tally, ofServer.at(-1));
  }
  const { present, attacked } = await visitors.end();
  const { stillKnown } = await import("./soak/abandoned.mjs");
  const left = await closedDown(server, before);
  await sessionsEnded();
  const rest = await heldAtRest(server);
  const counts = await countsOf(url);
  const known = await stillKnown(port, tally.abandoned);
  const ofAttackers = attacked.flatMap((attacker) => attacker.sessions);
  const knownOfAttackers = await stillKnown(port, ofAttackers);
  printVisitors(tally, attacked);
  const findings = [
    judgeCount("calls settled", tally.begun, tally.settled),
    judgeCount("visitors gone", tally.visits, tally.visits - present),
    judgeCount("calls that ended in the server", counts.begun, counts.ended),
    judgeSurprises(tally.surprises),
    judgeService(tally.service),
    judgeSurprises(new Map(Object.entries(counts.errors)), "internal errors of the server"),
    ...(isAttacked ? judgeAttack(attacked, counts) : []),
    judgeCount("listen streams left", 0, counts.streams),
    judgeMemory("server with visitors", ofServer, isAttacked ? underAttack : undefined),
    judgeRest("heap of the server at rest", rested, rest),
    judgeMemory("clients", ofClients),
    judgeResources("server", before.server, left.server),
    judgeResources("clients, with their children", before.clients, left.clients),
    judgeCount("abandoned sessions ended", tally.abandoned.length, tally.abandoned.length - known),
    judgeCount("sessions of attackers ended", ofAttackers.length, ofAttackers.length - knownOfAttackers),
  ];
  if (abandoned === 0) return findings;
  return [...findings, ...(await abandon(server, { port, count: abandoned, before }))];
}

/** Opens many sessions and abandons them. @param {Program} server @param {{ port: number, count: number, before: { server: Held, clients: Held } }} amount */
async function abandon(server, { port, count, before }) {
  const { abandonSessions } = await import("./soak/abandoned.mjs");
  const lean = await heldAtRest(server);
  const refused = await abandonSessions(port, count);
  await sessionsEnded();
  const left = await closedDown(server, before);
  const what = `heap after ${count.toLocaleString("en-US")} abandoned sessions`;
  const rest = judgeRest(what, lean, await heldAtRest(server));
  const found = `${rest.found}; refused ${refused} times`;
  return [{ ...rest, found }, judgeResources("server then", before.server, left.server)];
}

/**
 * Starts the traffic and the attack. `end` ends both, and returns the number of visitors that are still present and the counts of the attackers.
 *
 * @param {import("./soak/visitors.mjs").Place} place @param {boolean} isAttacked
 */
async function startVisitors(place, isAttacked) {
  // Imported here, because the library may have been built after this program started.
  const { Traffic } = await import("./soak/traffic.mjs");
  const traffic = new Traffic(place);
  const file = path.join(import.meta.dirname, "soak/attack.mjs");
  const attack = isAttacked ? new Program({ side: "load", file, args: [String(place.port)] }) : undefined;
  await attack?.message();
  const end = async () => {
    attack?.tell("stop");
    const present = await traffic.settle(closing);
    /** @type {Attacked[]} */
    const attacked = (await attack?.message(closing)) ?? [];
    await attack?.end();
    return { present, attacked };
  };
  return { traffic, end };
}

/** @param {readonly Attacked[]} attacked @param {ServerCounts} counts @returns {Finding[]} */
function judgeAttack(attacked, { endings }) {
  const surprises = attacked.flatMap(({ name, surprises }) =>
    Object.entries(surprises).map(([text, count]) => /** @type {[string, number]} */ ([`${name}: ${text}`, count])),
  );
  return [
    judgeSurprises(new Map(surprises), "surprises of attackers"),
    ...judgeLimits(attacked, endings),
    ...judgePeaks(attacked, { sessions: sessions.max, streams: limits.listenStreams }),
  ];
}

/** @param {Tally} tally @param {readonly Attacked[]} attacked */
function printVisitors(tally, attacked) {
  const ordinary = [...tally.kinds].map(([kind, count]) => [kind, "127.0.0.1", String(count), ""]);
  const attackers = attacked.map(({ name, address, waves, counts }) => {
    const answers = Object.entries(counts).map(([verdict, count]) => `${count.toLocaleString("en-US")} ${verdict}`);
    return [name, address, String(waves), answers.join(", ")];
  });
  const rows = [["visitor", "address", "visits", "answers"], ...ordinary, ...attackers];
  process.stdout.write(`${alignedTable(rows).join("\n")}\n\n`);
}

/** Waits until no more handles are open than before. @param {Program} server @param {{ server: Held, clients: Held }} before */
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

/** Waits until every unused session is over its idle limit. The timer of the server does not keep a process alive, so it is no handle. */
function sessionsEnded() {
  return pause(sessions.idle * 1.5);
}

/** @param {string} url @returns {Promise<ServerCounts>} */
async function countsOf(url) {
  const { connect } = await import("mcparley/client");
  const client = await connect(url);
  const counts = JSON.parse(String(await client.callTool("counts")));
  await client.close();
  return counts;
}

/** @param {Program} server @returns {Promise<Held>} */
async function heldBy(server) {
  const { heapUsed, rss } = await server.ask("heap");
  return { heap: heapUsed / megabyte, rss: rss / megabyte, resources: await server.ask("resources") };
}

/** Returns the lowest of three measurements, because finalizers release some memory later. @param {Program} server @returns {Promise<Held>} */
async function heldAtRest(server) {
  let lowest = await heldBy(server);
  for (let again = 0; again < 2; again++) {
    await pause(1_000);
    const held = await heldBy(server);
    if (held.heap < lowest.heap) lowest = held;
  }
  return lowest;
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
