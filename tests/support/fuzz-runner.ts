import { randomInt } from "node:crypto";
import { setMaxListeners } from "node:events";
import { type RunnerTestCase, TestRunner } from "vitest";
import { fuzzing, repeatCommand, reportResult, setSeed } from "./random-values.ts";

declare module "vitest" {
  interface TaskMeta {
    /** The part of a test in the time of `npm run fuzz`. A test without a property has none. Default of a property: 1. */
    weight?: number;
    /** The number of seeds with which a property was tried. */
    seeds?: number;
  }
}

/** The clock. Tests replace the functions of `performance`. */
const now = performance.now.bind(performance);

/**
 * Runs each test with a random seed. A test that checks a property is repeated with other seeds, until its number of seeds and its share
 * of the time are over.
 */
export default class FuzzRunner extends TestRunner {
  /** Whether the current test has checked a property. */
  #isProperty = false;

  async runTask(test: RunnerTestCase): Promise<void> {
    const { weight = 1 } = test.meta;
    const end = now() + fuzzing.share * weight;
    this.#isProperty = false;
    // Each run of a test adds a listener to the signal of its context.
    setMaxListeners(0, test.context.signal);
    let seeds = 0;
    do {
      const seed = fuzzing.seed ?? randomInt(2 ** 31);
      setSeed(seed, (details) => {
        this.#isProperty = true;
        reportResult(details);
      });
      await runWithSeed(test, seed);
      seeds++;
    } while (this.#isProperty && (seeds < fuzzing.seeds || now() < end));
    Object.assign(test.meta, this.#isProperty ? { weight, seeds } : { weight: 0, seeds: 0 });
  }
}

async function runWithSeed(test: RunnerTestCase, seed: number): Promise<void> {
  try {
    await TestRunner.getTestFn(test)();
  } catch (error) {
    if (String(error).includes("npm run fuzz")) throw error;
    // The failure is not that of a property, such as the time limit of the test.
    throw new Error(repeatCommand(seed, null), { cause: error });
  }
}
