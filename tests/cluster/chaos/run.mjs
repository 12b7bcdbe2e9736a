// @ts-check
import { deploy } from "../servers/deployment.mjs";
import { Proxy } from "../servers/proxy.mjs";
import { startRedis } from "../servers/redis.mjs";
import { breakThings } from "./break.mjs";
import { hold } from "./hold.mjs";
import { makePlan } from "./plan.mjs";

/** @import { Outcome, Verdict } from "./types.ts" */

/** @type {readonly Verdict[]} */
export const good = ["undisturbed", "after repeating", "failed clearly"];

/**
 * Holds conversations with three nodes behind nginx while things are broken, and says how each ended.
 *
 * @param {{ seed: number, conversations: number, atOnce: number, kinds?: readonly string[] }} options `kinds`: what of
 *   the plan's faults is to happen; all of it unless given
 */
export async function runChaos({ seed, conversations, atOnce, kinds }) {
  const nodes = 3;
  // Faults for longer than the conversations can take; they end with the last of them.
  const plan = makePlan(seed, { conversations, seconds: 3_600, nodes });
  const faults = plan.faults.filter(({ breaks }) => kinds?.includes(breaks) ?? true);
  const redis = await startRedis();
  const proxies = await Promise.all(Array.from({ length: nodes }, () => new Proxy(redis.port).start()));
  const deployment = await deploy({
    nodes,
    env: (index) => ({ REDIS_URL: `redis://127.0.0.1:${proxies[index]?.port}` }),
  });
  const over = new AbortController();
  try {
    const begun = performance.now();
    const breaking = breakThings({ deployment, redis, proxies }, faults, over.signal);
    const outcomes = await holdAll(deployment.url, plan.conversations, atOnce);
    over.abort();
    const broken = await breaking;
    return { outcomes, broken, seconds: (performance.now() - begun) / 1_000, errors: deployment.errors() };
  } finally {
    over.abort();
    await deployment.end();
    await Promise.all(proxies.map((proxy) => proxy.close()));
    await redis.end();
  }
}

/** @param {string} url @param {readonly import("./types.ts").Conversation[]} conversations @param {number} atOnce */
async function holdAll(url, conversations, atOnce) {
  /** @type {Outcome[]} */
  const outcomes = [];
  const waiting = conversations.values();
  const worker = async () => {
    for (const conversation of waiting) outcomes.push(await hold(url, conversation));
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return outcomes;
}

/** @param {Awaited<ReturnType<typeof runChaos>>} run @param {number} seed */
export function report({ outcomes, broken, seconds }, seed) {
  const verdicts = tally(outcomes.map(({ verdict }) => verdict));
  const errors = tally(outcomes.flatMap((outcome) => outcome.errors));
  const bad = outcomes.filter(({ verdict }) => !good.includes(verdict));
  return [
    `${outcomes.length} conversations in ${seconds.toFixed(0)} s, seed ${seed}`,
    `  broken:  ${list(tallied(broken))}`,
    `  ended:   ${list(verdicts)}`,
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
