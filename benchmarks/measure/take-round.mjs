// @ts-check

/** @import { Amount, Contender, Sample, Turns } from "../types.ts" */

/** The number of measured turns of each contender. */
const turns = 8;
/** A turn before a server is warm, in milliseconds. */
const warmupTurn = 100;
/** The warm-up of a server that is not always busy ends after this multiple of its CPU time. */
const longest = 20;

/** A sample, or why there is none. @typedef {Sample | string} Outcome */

/**
 * Takes one sample of each contender. Those that work in turns are all started, warmed and then measured in short turns,
 * one after another and back again, so that a slow moment of the machine affects all of them.
 *
 * @param {readonly Contender[]} contenders @param {Amount | undefined} amount @param {(what: string) => void} onStep
 * @returns {Promise<ReadonlyMap<string, Outcome>>}
 */
export async function takeRound(contenders, amount, onStep) {
  const round = new Round();
  try {
    for (const contender of contenders) {
      onStep(contender.name);
      await round.begin(contender);
    }
    if (!amount) return round.outcomes;
    onStep("warm-up");
    await round.warmUp(new Map(contenders.map(({ name, warmup = amount.warmup }) => [name, warmup])));
    onStep("measuring");
    await round.measure(amount.duration);
    return round.outcomes;
  } finally {
    await round.end();
  }
}

/** The other way round each time. @template T @param {readonly T[]} all @param {number} turn */
export function inTurn(all, turn) {
  return turn % 2 === 0 ? all : all.toReversed();
}

class Round {
  /** @type {Map<string, Outcome>} */
  outcomes = new Map();
  /** @type {Map<string, Turns>} */
  #running = new Map();

  /** @param {Contender} contender */
  async begin({ name, start, sample }) {
    await this.#attempt(name, async () => {
      if (start) this.#running.set(name, await start());
      else if (sample) this.outcomes.set(name, await sample());
      else throw new Error("The contender has neither turns nor a sample.");
    });
  }

  /** Counts the CPU time of each, so that each is compiled also on a busy machine. @param {ReadonlyMap<string, number>} milliseconds of CPU time by name */
  async warmUp(milliseconds) {
    const left = new Map([...milliseconds].filter(([name]) => this.#running.has(name)));
    const turnsAtMost = (Math.max(...left.values()) * longest) / warmupTurn;
    for (let turn = 0; left.size > 0 && turn < turnsAtMost; turn++) {
      await this.#each(turn, async (name, { turn }) => {
        const rest = left.get(name);
        if (rest === undefined) return;
        const used = await turn(warmupTurn, false);
        if (rest > used) left.set(name, rest - used);
        else left.delete(name);
      });
      for (const name of left.keys()) if (!this.#running.has(name)) left.delete(name);
    }
  }

  /** @param {number} milliseconds */
  async measure(milliseconds) {
    for (let turn = 0; turn < turns; turn++) {
      await this.#each(turn, (_, { turn }) => turn(milliseconds / turns, true));
    }
    await this.#each(0, async (name, { figures }) => this.outcomes.set(name, await figures()));
  }

  async end() {
    await Promise.all([...this.#running.values()].map(({ end }) => end()));
  }

  /** @param {number} turn @param {(name: string, turns: Turns) => Promise<unknown>} act */
  async #each(turn, act) {
    for (const [name, one] of inTurn([...this.#running], turn)) await this.#attempt(name, () => act(name, one));
  }

  /** Leaves one out that fails. @param {string} name @param {() => Promise<unknown>} act */
  async #attempt(name, act) {
    try {
      await act();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      process.stderr.write(`\n${name} is omitted: ${reason}\n`);
      this.outcomes.set(name, reason.slice(0, 400));
      await this.#running.get(name)?.end();
      this.#running.delete(name);
    }
  }
}
