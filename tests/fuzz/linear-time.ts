/** What is measured is long enough for the clock from here on. */
const measurable = 3;
/** Characters of the largest input that is tried; what is quick even then is quick enough. */
const largest = 524_288;
/** How many times the input is doubled between two measurements that are compared. */
const doublings = 3;
/** That makes 8 times the time where it is linear, and 64 times where it is quadratic. */
const tooSteep = 40;
/** A pause of the collector or of the machine can make one measurement long, hardly so many in a row. */
const tries = 4;

/** An input that can be made as long as is wanted: a part of it repeats. */
export interface Growing {
  head: string;
  unit: string;
  tail: string;
}

export function grown({ head, unit, tail }: Growing, length: number): string {
  const times = Math.max(1, Math.ceil(length / Math.max(1, unit.length)));
  return head + unit.repeat(times) + tail;
}

/**
 * Throws where the time that `run` takes grows faster than the input. What `prepare` makes of the input is not measured.
 *
 * The input is doubled until it takes long enough to be measured, and then some more.
 */
export async function expectLinearTime<T = string>(
  growing: Growing,
  run: (input: T) => unknown,
  prepare: (text: string) => T = (text) => text as T,
): Promise<void> {
  const factor = 2 ** doublings;
  const inputOf = (length: number): T => prepare(grown(growing, length));
  for (let length = 64; length * factor <= largest; length *= 2) {
    const input = inputOf(length);
    if ((await timeOf(run, input)) < measurable) continue;
    let steepness = Infinity;
    for (let attempt = 0; attempt < tries && steepness > tooSteep; attempt++) {
      const once = await shortest(run, input);
      if (once < measurable) break;
      steepness = Math.min(steepness, (await shortest(run, inputOf(length * factor))) / once);
    }
    if (steepness === Infinity) continue;
    if (steepness <= tooSteep) return;
    const found = `${factor} times the input takes ${steepness.toFixed(0)} times as long`;
    throw new Error(`${found}, from ${length} characters on.`);
  }
}

async function shortest<T>(run: (input: T) => unknown, input: T): Promise<number> {
  let least = Infinity;
  for (let turn = 0; turn < 3; turn++) least = Math.min(least, await timeOf(run, input));
  return least;
}

async function timeOf<T>(run: (input: T) => unknown, input: T): Promise<number> {
  const began = performance.now();
  await run(input);
  return performance.now() - began;
}
