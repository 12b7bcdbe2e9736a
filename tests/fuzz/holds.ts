import fc from "fast-check";
import { test } from "vitest";
import { withinLimit } from "../support/work-limit.ts";
import { plan } from "./plan.ts";

/** Milliseconds after which a case counts as endless. A busy machine can take many seconds for a long input. */
const caseLimit = 120_000;
/** Milliseconds for finding the smallest case that fails. */
const shrinking = 20_000;

/**
 * A test that tries a property on random values until its share of the time is over.
 *
 * The share of time of a property. A failure names the smallest case that was found, and the options of `npm run fuzz` that repeat it.
 */
export function holds<T>(
  name: string,
  values: fc.Arbitrary<T>,
  property: (value: T) => void | Promise<void>,
  { weight = 1 }: { weight?: number } = {},
): void {
  const share = plan.share * weight;
  const tried = fc.asyncProperty(values, async (value) => await withinLimit(() => property(value), caseLimit));
  test(name, { timeout: share + shrinking + 2 * caseLimit }, async () => {
    const settings: fc.Parameters<[T]> = {
      numRuns: 2 ** 31,
      timeout: caseLimit,
      ...(plan.seed !== undefined && { seed: plan.seed }),
    };
    const found = plan.path === undefined ? await tryFor(share, tried, settings) : undefined;
    if (found?.failed === false) return;
    // Starts from the failed case, because the search for a smaller one needs additional time.
    const at = found ? { seed: found.seed, path: found.counterexamplePath ?? "" } : { path: plan.path ?? "" };
    const smallest = await fc.check(tried, { ...settings, ...at, interruptAfterTimeLimit: shrinking });
    const failed = smallest.failed ? smallest : found;
    if (failed?.failed) throw new Error(report(name, failed), { cause: failed.errorInstance });
  });
}

/** Tries cases until the time is over, and one at least: on a busy machine it may be over before the first has ended. */
async function tryFor<T>(
  share: number,
  tried: fc.IAsyncProperty<[T]>,
  settings: fc.Parameters<[T]>,
): Promise<fc.RunDetails<[T]>> {
  const found = await fc.check(tried, { ...settings, interruptAfterTimeLimit: share });
  if (!found.interrupted || found.counterexample !== null) return found;
  return fc.check(tried, { ...settings, seed: found.seed, numRuns: 1 });
}

function report<T>(
  name: string,
  { counterexample, errorInstance, seed, counterexamplePath }: fc.RunDetails<T>,
): string {
  const [value] = (counterexample ?? []) as unknown[];
  const why = errorInstance instanceof Error ? (errorInstance.stack ?? errorInstance.message) : String(errorInstance);
  return [
    `The smallest case that was found: ${fc.stringify(value).slice(0, 4_000)}`,
    why,
    `Repeat it with: npm run fuzz -- --only ${JSON.stringify(name)} --seed=${seed} --path ${counterexamplePath ?? ""}`,
  ].join("\n");
}
