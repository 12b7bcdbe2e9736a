import fc from "fast-check";
import { test } from "vitest";
import { withinLimit } from "../support/work-limit.ts";

/** Milliseconds after which a case counts as endless. A busy machine can take many seconds for a long input. */
const caseLimit = 120_000;
/** Milliseconds for finding the smallest case that fails. */
const shrinking = 20_000;

interface PropertyOptions {
  /** The number of random values. Default: 100, which take less than a second. */
  runs?: number;
  /** The part of the property in the time of `npm run fuzz`. Default: 1. */
  weight?: number;
}

/** A test that tries a property on random values. A failure has the smallest case that was found. */
export function holds<T>(
  name: string,
  values: fc.Arbitrary<T>,
  property: (value: T) => void | Promise<void>,
  { runs = 100, weight = 1 }: PropertyOptions = {},
): void {
  const tried = fc.asyncProperty(values, async (value) => await withinLimit(() => property(value), caseLimit));
  test(name, { timeout: 2 * caseLimit + shrinking, meta: { weight } }, async () => {
    const settings: fc.Parameters<[T]> = { numRuns: runs, timeout: caseLimit };
    const found = await fc.check(tried, { ...settings, endOnFailure: true });
    // Starts from the failed case, because the search for a smaller one has a limit of time.
    const failedCase = { seed: found.seed, path: found.counterexamplePath ?? "" };
    const smallest = found.failed
      ? await fc.check(tried, { ...settings, ...failedCase, interruptAfterTimeLimit: shrinking })
      : found;
    const report = fc.readConfigureGlobal().reporter as ((details: fc.RunDetails<[T]>) => void) | undefined;
    report?.(smallest.failed ? smallest : found);
  });
}
