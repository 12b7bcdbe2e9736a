// @ts-check
import path from "node:path";
import { parseArgs } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Program } from "./measure/program.mjs";
import { alignedTable } from "./report/markdown.mjs";
import { judgeCount, judgeMemory, judgeSurprises } from "./soak/judge.mjs";

/** @import { Client } from "mcparley/client" */
/** @import { Finding, Held } from "./soak/judge.mjs" */

const help = `npm run soak -- client [options]

Measures the heap of one client over many calls, and over many subscriptions that are opened and closed. Fails unless the heap is flat.

  --calls N           calls for each transport and revision; default 100000
  --subscriptions N   subscriptions for each transport and revision; default 10000
`;

const { values } = parseArgs({
  options: {
    calls: { type: "string", default: "100000" },
    subscriptions: { type: "string", default: "10000" },
    help: { type: "boolean", short: "h", default: false },
  },
});

const file = path.join(import.meta.dirname, "soak/client-server.mjs");
const revisions = ["2026-07-28", "2025-11-25"];
/** Number of times that the heap is measured in each run. */
const moments = 40;
/** Requests that are in flight at the same time. */
const together = 50;

setFlagsFromString("--expose-gc");
/** @type {() => void} */
const collect = runInNewContext("gc");

if (values.help) process.stdout.write(help);
else process.exitCode = await main();

async function main() {
  const [calls = 0, subscriptions = 0] = [values.calls, values.subscriptions].map(Number);
  if (!(calls >= moments * together) || !(subscriptions >= moments * together)) {
    process.stderr.write(`${help}\nEach number must be at least ${moments * together}.\n`);
    return 1;
  }
  /** @type {Finding[]} */
  const findings = [];
  for (const revision of revisions) {
    findings.push(...(await overHttp(revision, calls, subscriptions)));
    findings.push(...(await overStdio(revision, calls, subscriptions)));
  }
  const rows = findings.map(({ what, isGood, found }) => [what, isGood ? "ok" : "FAILED", found]);
  process.stdout.write(`${alignedTable([["", "", "found"], ...rows]).join("\n")}\n`);
  return findings.every(({ isGood }) => isGood) ? 0 : 1;
}

/** @param {string} revision @param {number} calls @param {number} subscriptions */
async function overHttp(revision, calls, subscriptions) {
  const server = new Program({ side: "server", file, args: ["http"] });
  try {
    return await judgeClient(`HTTP, ${revision}`, { target: await server.firstLine(), revision, calls, subscriptions });
  } finally {
    await server.end();
  }
}

/** @param {string} revision @param {number} calls @param {number} subscriptions */
function overStdio(revision, calls, subscriptions) {
  const target = { command: process.execPath, args: [file, "stdio"] };
  return judgeClient(`stdio, ${revision}`, { target, revision, calls, subscriptions });
}

/**
 * Connects one client and measures its heap. The client reads no resource, so its cache stays empty.
 *
 * @param {string} where
 * @param {{ target: string | { command: string, args: string[] }, revision: string, calls: number, subscriptions: number }} amount
 * @returns {Promise<Finding[]>}
 */
async function judgeClient(where, { target, revision, calls, subscriptions }) {
  // Imported here, because the library may have been built after this program started.
  const { connect } = await import("mcparley/client");
  /** @type {Map<string, number>} */
  const errors = new Map();
  const onError = (/** @type {Error} */ { message }) => void errors.set(message, (errors.get(message) ?? 0) + 1);
  const client = await connect(target, { revision, onError });
  try {
    const called = await measure(calls, `${where}: calls`, () => callOnce(client));
    const listened = await measure(subscriptions, `${where}: subscriptions`, () => listenOnce(client));
    return [
      judgeCount(`${where}: calls answered`, calls, called.done),
      judgeMemory(`client, ${where}, ${calls} calls`, called.held),
      judgeCount(`${where}: subscriptions opened and closed`, subscriptions, listened.done),
      judgeMemory(`client, ${where}, ${subscriptions} subscriptions`, listened.held),
      judgeSurprises(errors, `${where}: errors`),
    ];
  } finally {
    await client.close();
  }
}

/** Returns whether the server echoed the text. @param {Client} client */
async function callOnce(client) {
  return (await client.callTool("echo", { text: "hello" })) === "hello";
}

/** Opens a subscription, and closes it. @param {Client} client */
async function listenOnce(client) {
  const subscription = await client.listen({ tools: true, uris: ["soak://page"] }, () => {});
  const isAccepted = subscription.acknowledged.tools === true;
  await subscription.close();
  return isAccepted;
}

/**
 * Runs an operation `count` times, `together` at the same time, and measures the heap at equal intervals.
 *
 * @param {number} count @param {string} what @param {() => Promise<boolean>} run Returns whether it succeeded.
 */
async function measure(count, what, run) {
  /** @type {Held[]} */
  const held = [];
  let done = 0;
  let begun = 0;
  for (let moment = 1; moment <= moments; moment++) {
    const until = Math.round((count * moment) / moments);
    while (begun < until) {
      const batch = Math.min(together, until - begun);
      begun += batch;
      const results = await Promise.all(Array.from({ length: batch }, run));
      done += results.filter(Boolean).length;
    }
    held.push(heldHere());
    process.stderr.write(`${what} ${begun}/${count}; the client holds ${held.at(-1)?.heap.toFixed(2)} MB of heap\n`);
  }
  return { held, done };
}

/** @returns {Held} */
function heldHere() {
  collect();
  const { heapUsed, rss } = process.memoryUsage();
  return { heap: heapUsed / 1e6, rss: rss / 1e6, resources: {} };
}
