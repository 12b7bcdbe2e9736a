import { withinLimit } from "./work-limit.ts";

/** Milliseconds of CPU time from which on a measurement is precise enough. */
const measurable = 3;
/** Default of `largest`. Work that is not measurable at an eighth of that is quick enough. */
const defaultLargest = 524_288;
/** How many times the input is doubled between two measurements that are compared. */
const doublings = 3;
/** Linear work takes 8 times as long, and quadratic work 64 times. The limit has a wide margin on both sides. */
const tooSteep = 28;
/**
 * Default of `tries`. A garbage collection or another thread of the process can make one measurement long. On a machine with many
 * times more work than cores, four attempts in a row were too long once.
 */
const defaultTries = 10;

/** An input that can have any length: its middle part repeats. */
export interface Growing {
  head: string;
  unit: string;
  tail: string;
}

/** Settings of `expectLinearTime`. */
export interface Growth<T> {
  /** Makes the input from the text; this is not measured. Default: the text itself. */
  prepare?: (text: string) => T;
  /** Characters of the largest text that is tried. Default: 524,288. */
  largest?: number;
  /** Attempts to find that the work is linear. Default: 10. */
  tries?: number;
}

/** Returns the text of a growing input, of at least `length` characters in its middle part. */
export function grown({ head, unit, tail }: Growing, length: number): string {
  const times = Math.max(1, Math.ceil(length / Math.max(1, unit.length)));
  return head + unit.repeat(times) + tail;
}

/**
 * Throws if the CPU time of `run` grows faster than its input.
 *
 * Only ratios of measurements of the same process are compared, and CPU time instead of wall-clock time, so that a busy
 * machine makes no difference. The input is doubled until its CPU time can be measured, and then compared with an input of
 * 8 times the length. If that is too steep, the doubled input must be so too: work that grows faster than its input does so at each
 * length, and the compiler or the caches of a process affect only some. Work that takes longer than a minute is interrupted.
 */
export async function expectLinearTime<T = string>(
  growing: Growing,
  run: (input: T) => unknown,
  { prepare = (text) => text as T, largest = defaultLargest, tries = defaultTries }: Growth<T> = {},
): Promise<void> {
  const factor = 2 ** doublings;
  const inputOf = (length: number): T => prepare(grown(growing, length));
  let found: string | undefined;
  for (let length = 64; length * factor <= largest; length *= 2) {
    const input = inputOf(length);
    if ((await timeOf(run, input)) < measurable) continue;
    let steepness = Infinity;
    for (let attempt = 0; attempt < tries && steepness > tooSteep; attempt++) {
      const once = await shortest(run, input);
      if (once < measurable) break;
      steepness = Math.min(steepness, (await timeOf(run, inputOf(length * factor))) / once);
    }
    if (steepness === Infinity) continue;
    if (steepness <= tooSteep) return;
    if (found !== undefined) break;
    found = `${factor} times the input takes ${steepness.toFixed(0)} times as long, from ${length} characters on.`;
  }
  if (found !== undefined) throw new Error(found);
}

async function shortest<T>(run: (input: T) => unknown, input: T): Promise<number> {
  let least = Infinity;
  for (let turn = 0; turn < 3; turn++) least = Math.min(least, await timeOf(run, input));
  return least;
}

/** Returns the CPU time of one run in milliseconds. */
async function timeOf<T>(run: (input: T) => unknown, input: T): Promise<number> {
  const before = process.cpuUsage();
  await withinLimit(() => run(input));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
