// @ts-check

/** @import { Workload } from "../types.ts" */

/** Seconds of a sample, until some were taken. */
const guess = 2;

/** Keeps a run within its time on a slow machine: the remaining workloads take fewer samples. */
export class Pace {
  #now;
  #end;
  #taken = 0;
  #spent = 0;

  /** @param {number} seconds that the run may take @param {() => number} [now] milliseconds */
  constructor(seconds, now = () => performance.now()) {
    this.#now = now;
    this.#end = now() + seconds * 1_000;
  }

  /** Records the time of a workload. @param {number} samples @param {number} seconds */
  note(samples, seconds) {
    this.#taken += samples;
    this.#spent += seconds;
  }

  /** The next workload with as many rounds as there is time for: one at least. @param {Workload} next @param {readonly Workload[]} left that one and all after it @returns {Workload} */
  fit(next, left) {
    const each = this.#taken === 0 ? guess : this.#spent / this.#taken;
    const needed = left.reduce((sum, workload) => sum + samplesOf(workload), 0) * each;
    const share = Math.min(1, (this.#end - this.#now()) / 1_000 / needed);
    const fewer = (/** @type {number} */ rounds) => Math.max(1, Math.round(rounds * share));
    const contenders = next.contenders.map((contender) => ({
      ...contender,
      rounds: fewer(contender.rounds ?? next.rounds),
    }));
    return { ...next, rounds: fewer(next.rounds), contenders };
  }
}

/** How many samples a workload takes. @param {Workload} workload */
export function samplesOf({ rounds, contenders }) {
  const running = contenders.filter(({ notRun }) => notRun === undefined);
  return running.reduce((sum, { rounds: own = rounds }) => sum + Math.min(own, rounds), 0);
}
