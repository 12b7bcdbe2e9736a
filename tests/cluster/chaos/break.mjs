// @ts-check
import { setTimeout as pause } from "node:timers/promises";
import { post } from "./raw.mjs";

/** @import { Fault } from "./types.ts" */

/**
 * The parts of a deployment that can fail.
 *
 * @typedef {{
 *   deployment: Awaited<ReturnType<typeof import("../servers/deployment.mjs").deploy>>,
 *   redis: import("../servers/redis.mjs").RedisServer,
 *   proxies: readonly import("../servers/proxy.mjs").Proxy[],
 * }} World
 */

/**
 * Causes the faults of a plan at their times until the signal is aborted, and repairs everything then. A part that has already failed is skipped.
 *
 * @param {World} world
 * @param {readonly Fault[]} faults
 * @param {AbortSignal} signal
 * @returns {Promise<Record<string, number>>} the number of faults of each kind
 */
export async function breakThings(world, faults, signal) {
  /** @type {Record<string, number>} */
  const counts = {};
  /** @type {Set<string>} */
  const broken = new Set();
  /** @type {Promise<void>[]} */
  const repairs = [];
  const begun = Date.now();
  for (const fault of faults) {
    await pause(Math.max(0, begun + fault.at - Date.now()), undefined, { signal }).catch(() => {});
    if (signal.aborted) break;
    // A node that is dead or stopped has no other fault. Other parts may have several faults at a time.
    const what = fault.breaks === "redis" ? "redis" : `node ${fault.node}`;
    const exclusive = fault.breaks === "redis" || fault.breaks === "node" || fault.breaks === "pace";
    if (exclusive && broken.has(what)) continue;
    if (exclusive) broken.add(what);
    counts[fault.breaks] = (counts[fault.breaks] ?? 0) + 1;
    repairs.push(breakThing(world, fault).then(() => void (exclusive && broken.delete(what))));
  }
  await Promise.all(repairs);
  // An outage at a later step would begin after the end.
  await Promise.all(world.deployment.nodes.map(({ url }) => arm(url, { after: 1e9, ms: 0 })));
  return counts;
}

/** Breaks one thing, and repairs it. @param {World} world @param {Fault} fault */
async function breakThing({ deployment, redis, proxies }, fault) {
  if (fault.breaks === "redis") {
    await redis.kill();
    await pause(fault.for);
    return redis.start();
  }
  const { node } = fault;
  const proxy = proxies[node];
  switch (fault.breaks) {
    case "node":
      await deployment.kill(node);
      await pause(fault.for);
      return restart(deployment, node);
    case "pace": {
      const program = deployment.nodes[node]?.program;
      program?.signal("SIGSTOP");
      await pause(fault.for);
      program?.signal("SIGCONT");
      return;
    }
    case "step":
      // A process that does not answer has another trouble already.
      return arm(deployment.nodes[node]?.url ?? "", { after: fault.after, ms: fault.for }).catch(() => {});
    case "connections":
      return proxy?.cut();
    case "reply":
      return proxy?.loseReply();
    case "reach":
      proxy?.shut();
      await pause(fault.for);
      return proxy?.open();
    case "speed":
      proxy?.slow(fault.by);
      await pause(fault.for);
      return proxy?.slow(0);
  }
}

/** Makes a process lose its store at a later step of its tasks. @param {string} url @param {{ after: number, ms: number }} when */
async function arm(url, when) {
  const answer = await post(url, "tools/call", { params: { name: "outage", arguments: when } });
  await answer.body?.cancel();
}

/** A node that starts while Redis is out of its reach ends, and is started again. @param {World["deployment"]} deployment @param {number} node */
async function restart(deployment, node) {
  for (let tries = 1; ; tries++) {
    try {
      return await deployment.restart(node);
    } catch (error) {
      if (tries === 20) throw error;
      await pause(250);
    }
  }
}
