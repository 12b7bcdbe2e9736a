// @ts-check
import { deploy } from "../servers/deployment.mjs";
import { Proxy } from "../servers/proxy.mjs";
import { startRedis } from "../servers/redis.mjs";
import { breakThings } from "./break.mjs";
import { findCrossings } from "./crossings.mjs";
import { hold } from "./hold.mjs";
import { findTakenPlaces, places } from "./places.mjs";
import { makePlan } from "./plan.mjs";

/** @import { Outcome, ServerName, Verdict } from "./types.ts" */

/** @type {readonly Verdict[]} */
export const good = ["undisturbed", "after repeating", "failed clearly"];

/** Number of processes of each server. @type {Record<ServerName, number>} */
const processes = { cluster: 3, other: 2 };

/**
 * Runs conversations with two servers on one store during faults, and returns how each ended. One server has three processes, one has two, each behind nginx. After that it looks whether anything of one server can be seen on the other, and
 * whether every process has all of its places for tasks free.
 *
 * @param {{ seed: number, conversations: number, atOnce: number, kinds?: readonly string[] }} options `kinds`: what of
 *   the plan's faults is to happen; all of it unless given
 */
export async function runChaos({ seed, conversations, atOnce, kinds }) {
  const nodes = processes.cluster + processes.other;
  // Faults for longer than the conversations can take; they end with the last of them.
  const plan = makePlan(seed, { conversations, seconds: 3_600, nodes });
  const faults = plan.faults.filter(({ breaks }) => kinds?.includes(breaks) ?? true);
  const limits = { MAX_RUNNING: String(places) };
  const redis = await startRedis();
  const proxies = await Promise.all(Array.from({ length: nodes }, () => new Proxy(redis.port).start()));
  const urlOf = (/** @type {number} */ index) => `redis://127.0.0.1:${proxies[index]?.port}`;
  const cluster = await deploy({ nodes: processes.cluster, env: (index) => ({ REDIS_URL: urlOf(index), ...limits }) });
  const other = await deploy({
    nodes: processes.other,
    env: (index) => ({ REDIS_URL: urlOf(processes.cluster + index), NAME: "other", ...limits }),
  });
  const deployment = together(cluster, other);
  const urls = { cluster: cluster.url, other: other.url };
  const over = new AbortController();
  try {
    const begun = performance.now();
    const breaking = breakThings({ deployment, redis, proxies }, faults, over.signal);
    const outcomes = await holdAll(urls, plan.conversations, atOnce);
    over.abort();
    const broken = await breaking;
    const seconds = (performance.now() - begun) / 1_000;
    const crossings = await findCrossings(urls, outcomes);
    const tasks = await findTakenPlaces(deployment.nodes);
    return { outcomes, broken, seconds, crossings, tasks, errors: deployment.errors() };
  } finally {
    over.abort();
    await deployment.end();
    await Promise.all(proxies.map((proxy) => proxy.close()));
    await redis.end();
  }
}

/**
 * Joins two deployments for the faults. The processes of the second have the numbers after those of the first.
 *
 * @typedef {Awaited<ReturnType<typeof deploy>>} Deployment
 * @param {Deployment} first @param {Deployment} second @returns {Deployment}
 */
function together(first, second) {
  const count = first.nodes.length;
  const at = (/** @type {number} */ index) =>
    index < count ? { of: first, index } : { of: second, index: index - count };
  return {
    url: first.url,
    get nodes() {
      return [...first.nodes, ...second.nodes];
    },
    kill: (index) => at(index).of.kill(at(index).index),
    restart: (index) => at(index).of.restart(at(index).index),
    errors: () => first.errors() + second.errors(),
    end: async () => void (await Promise.all([first.end(), second.end()])),
  };
}

/** @param {Record<ServerName, string>} urls @param {readonly import("./types.ts").Conversation[]} conversations @param {number} atOnce */
async function holdAll(urls, conversations, atOnce) {
  /** @type {Outcome[]} */
  const outcomes = [];
  const waiting = conversations.values();
  const worker = async () => {
    for (const conversation of waiting) outcomes.push(await hold(urls[conversation.server], conversation));
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return outcomes;
}

/** @param {Awaited<ReturnType<typeof runChaos>>} run @param {number} seed */
export function report({ outcomes, broken, seconds, crossings, tasks }, seed) {
  const verdicts = tally(outcomes.map(({ verdict }) => verdict));
  const errors = tally(outcomes.flatMap((outcome) => outcome.errors));
  const bad = outcomes.filter(({ verdict }) => !good.includes(verdict));
  return [
    `${outcomes.length} conversations in ${seconds.toFixed(0)} s, seed ${seed}`,
    `  broken:  ${list(tallied(broken))}`,
    `  ended:   ${list(verdicts)}`,
    `  servers: ${list(tally(outcomes.map(({ server }) => server)))} conversations; ${crossings.looked} looks for what crossed found ${crossings.found.length}`,
    `  places:  ${tasks.looked} processes with ${places} places for tasks each, ${tasks.taken.length} of them with places that are not free`,
    ...tasks.taken.map((what) => `  TAKEN: ${what}`),
    ...crossings.found.map((what) => `  CROSSED: ${what}`),
    ...(errors.length === 0 ? [] : ["  errors along the way:"]),
    ...errors.map(([what, times]) => `  ${String(times).padStart(6)}  ${what}`),
    ...bad.map(({ conversation, verdict, why }) => `  ${verdict.toUpperCase()}: ${conversation}: ${why}`),
  ].join("\n");
}

/** @param {readonly string[]} items */
function tally(items) {
  /** @type {Record<string, number>} */
  const counts = {};
  for (const item of items) counts[item] = (counts[item] ?? 0) + 1;
  return tallied(counts);
}

/** @param {Record<string, number>} counts */
function tallied(counts) {
  return Object.entries(counts).toSorted(([, a], [, b]) => b - a);
}

/** @param {readonly (readonly [string, number])[]} counts */
function list(counts) {
  return counts.map(([what, times]) => `${what} ${times}`).join(", ") || "nothing";
}
