// @ts-check
import { median } from "../measure/statistics.mjs";

/** Memory of a process in megabytes, and its open handles by kind. @typedef {{ heap: number, rss: number, resources: Readonly<Record<string, number>> }} Held */
/** @typedef {{ what: string, isGood: boolean, found: string }} Finding */

/** @import { Service } from "./service.mjs" */
/** @import { Attacked } from "./attack.mjs" */

/** The growth of memory that is allowed: a share, and a number of megabytes. @typedef {{ share: number, megabytes: number }} Tolerance */

/** @type {Tolerance} */
const flat = { share: 0.1, megabytes: 1 };

/**
 * Compares the memory in the last quarter of the moments with the second quarter. In the first quarter memory grows while code is compiled.
 *
 * @param {string} who @param {readonly Held[]} moments at least four @param {Tolerance} [tolerance] @returns {Finding}
 */
export function judgeMemory(who, moments, tolerance = flat) {
  const quarter = Math.floor(moments.length / 4);
  const early = heapOf(moments.slice(quarter, quarter * 2));
  const late = heapOf(moments.slice(-quarter));
  const isGood = late - early <= early * tolerance.share + tolerance.megabytes;
  return { what: `heap of the ${who}`, isGood, found: `${early.toFixed(1)} MB, at the end ${late.toFixed(1)} MB` };
}

/**
 * Compares the heap before and after the run, both at rest: every visitor has left, and every session has ended.
 *
 * @param {string} what @param {Held} before @param {Held} after @returns {Finding}
 */
export function judgeRest(what, before, after) {
  const isGood = after.heap - before.heap <= before.heap * flat.share + flat.megabytes;
  return { what, isGood, found: `${before.heap.toFixed(1)} MB, then ${after.heap.toFixed(1)} MB` };
}

/** @param {readonly Held[]} moments */
function heapOf(moments) {
  return median(moments.map(({ heap }) => heap));
}

/**
 * Requires that no handle is open that was not open at the start.
 *
 * @param {string} who @param {Held} before @param {Held} after @returns {Finding}
 */
export function judgeResources(who, before, after) {
  const more = Object.entries(after.resources).filter(([kind, count]) => count > (before.resources[kind] ?? 0));
  const found = more.map(([kind, count]) => `${count} ${kind}, at the start ${before.resources[kind] ?? 0}`).join("; ");
  return { what: `handles of the ${who}`, isGood: more.length === 0, found: found || "none left" };
}

/** @param {string} what @param {number} expected @param {number} got @returns {Finding} */
export function judgeCount(what, expected, got) {
  return {
    what,
    isGood: expected === got,
    found: `${got.toLocaleString("en-US")} of ${expected.toLocaleString("en-US")}`,
  };
}

/** @param {ReadonlyMap<string, number>} surprises @param {string} [what] @returns {Finding} */
export function judgeSurprises(surprises, what = "surprises") {
  const found = [...surprises].map(([text, count]) => `${count} × ${text}`).join("; ");
  return { what, isGood: surprises.size === 0, found: found || "none" };
}

/** Requires that every call of the ordinary visitors succeeded in time, without a refusal. @param {Service} service @returns {Finding} */
export function judgeService(service) {
  const { calls, failed, slow, slowest, patience } = service;
  const refused = Object.entries(service.refused).map(([status, count]) => `${count} × ${status}`);
  const times = `p50 ≤ ${round(service.quantile(0.5))} ms, p99 ≤ ${round(service.quantile(0.99))} ms, slowest ${round(slowest)} ms`;
  const wrong = `${failed} failed, ${slow} over ${patience} ms, refused: ${refused.join(", ") || "0"}`;
  return {
    what: "ordinary visitors are served",
    isGood: calls > 0 && failed === 0 && slow === 0 && refused.length === 0,
    found: `${round(calls)} calls, ${times}; ${wrong}`,
  };
}

/** Ended sessions that show a limit, by the reason of their end. @type {readonly [string, RegExp][]} */
const sessionLimits = [
  ["sessions.max (displaced)", /make room for another/],
  ["sessions.handshake", /sent nothing after it opened/],
  ["sessions.idle", /idle for too long/],
];

/**
 * Requires that each limit was reached by every attacker that attacks it. An attack that did not happen proves nothing.
 *
 * @param {readonly Attacked[]} attacked @param {Readonly<Record<string, number>>} endings Ended sessions by reason.
 * @returns {Finding[]} one for each limit
 */
export function judgeLimits(attacked, endings) {
  /** @type {Map<string, { who: string, count: number }[]>} */
  const reached = new Map();
  for (const { name, reaches, counts } of attacked) {
    for (const limit of reaches) {
      reached.set(limit, [...(reached.get(limit) ?? []), { who: name, count: counts[limit] ?? 0 }]);
    }
  }
  for (const [limit, pattern] of sessionLimits) {
    const fitting = Object.entries(endings).filter(([reason]) => pattern.test(reason));
    reached.set(limit, [{ who: "ended sessions", count: fitting.reduce((sum, [, count]) => sum + count, 0) }]);
  }
  return [...reached].map(([limit, attackers]) => ({
    what: `limit reached: ${limit}`,
    isGood: attackers.every(({ count }) => count > 0),
    found: attackers.map(({ who, count }) => `${round(count)} × ${who}`).join("; "),
  }));
}

/**
 * Requires that no attacker had more sessions or streams open at a time than the server may have.
 *
 * @param {readonly Attacked[]} attacked @param {Readonly<Record<string, number>>} limits
 * @returns {Finding[]} one for each limit
 */
export function judgePeaks(attacked, limits) {
  return Object.entries(limits).map(([kind, limit]) => {
    const peak = Math.max(0, ...attacked.map(({ peaks }) => peaks[kind] ?? 0));
    return { what: `most open ${kind}`, isGood: peak > 0 && peak <= limit, found: `${peak}, limit ${limit}` };
  });
}

/** @param {number} value */
function round(value) {
  return Math.round(value).toLocaleString("en-US");
}
