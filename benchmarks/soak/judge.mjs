// @ts-check
import { median } from "../measure/statistics.mjs";

/** What a process held at some moment: megabytes, and what kept it alive by kind. @typedef {{ heap: number, rss: number, resources: Readonly<Record<string, number>> }} Held */
/** @typedef {{ what: string, isGood: boolean, found: string }} Finding */

/** What memory may differ by, at most, between two quarters of a run: this share of it, and these megabytes. */
const tolerance = { share: 0.1, megabytes: 1 };

/**
 * Whether memory is flat: the last quarter of the moments against the second, as in the first everything is new.
 *
 * @param {string} who @param {readonly Held[]} moments at least four @returns {Finding}
 */
export function judgeMemory(who, moments) {
  const quarter = Math.floor(moments.length / 4);
  const early = heapOf(moments.slice(quarter, quarter * 2));
  const late = heapOf(moments.slice(-quarter));
  const isGood = late - early <= early * tolerance.share + tolerance.megabytes;
  return { what: `heap of the ${who}`, isGood, found: `${early.toFixed(1)} MB, at the end ${late.toFixed(1)} MB` };
}

/** @param {readonly Held[]} moments */
function heapOf(moments) {
  return median(moments.map(({ heap }) => heap));
}

/**
 * Whether anything is open that was not at the start.
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

/** @param {ReadonlyMap<string, number>} surprises @returns {Finding} */
export function judgeSurprises(surprises) {
  const found = [...surprises].map(([text, count]) => `${count} × ${text}`).join("; ");
  return { what: "surprises", isGood: surprises.size === 0, found: found || "none" };
}
