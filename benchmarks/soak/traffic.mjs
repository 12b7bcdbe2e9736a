// @ts-check
import { setTimeout as pause } from "node:timers/promises";
import { rudeVisitors } from "./rude-visitors.mjs";
import { visitors } from "./visitors.mjs";

/** @import { Place, Visit } from "./visitors.mjs" */

const kinds = [...visitors, ...rudeVisitors];
const weights = kinds.reduce((sum, [, weight]) => sum + weight, 0);
/** Maximum number of visits at a time. At the maximum no visitor comes. */
const most = 300;

/** Clients that come at a steady rate, each to do one thing. */
export class Traffic {
  #place;
  /** @type {Set<Promise<void>>} */
  #visits = new Set();

  /** @param {Place} place */
  constructor(place) {
    this.#place = place;
  }

  /** @param {number} rate visits a second @param {number} seconds */
  async flow(rate, seconds) {
    const begun = performance.now();
    for (let due = 0; due < rate * seconds; due++) {
      const wait = (due * 1_000) / rate - (performance.now() - begun);
      if (wait > 1) await pause(wait);
      // On a machine that cannot keep up, time ends it, and not the number of visits.
      if (performance.now() - begun > seconds * 1_000) return;
      if (this.#visits.size < most) this.#receive();
    }
  }

  /** Waits until everybody has left. @param {number} limit milliseconds @returns {Promise<number>} how many are still there */
  async settle(limit) {
    await Promise.race([Promise.all(this.#visits), pause(limit, undefined, { ref: false })]);
    return this.#visits.size;
  }

  #receive() {
    const [kind, visit] = pick(Math.random() * weights);
    const { tally } = this.#place;
    tally.visits++;
    tally.kinds.set(kind, (tally.kinds.get(kind) ?? 0) + 1);
    const done = visit(this.#place)
      .catch((/** @type {unknown} */ error) => tally.surprise(kind, error))
      .finally(() => this.#visits.delete(done));
    this.#visits.add(done);
  }
}

/** @param {number} place @returns {[string, Visit]} */
function pick(place) {
  let left = place;
  for (const [kind, weight, visit] of kinds) {
    left -= weight;
    if (left < 0) return [kind, visit];
  }
  throw new Error("There are no visitors.");
}
