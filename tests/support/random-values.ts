import fc from "fast-check";
import { TestRunner } from "vitest";

/** The seed of all properties in `npm test`: each run tries the same values. `npm run fuzz` tries values of random seeds. */
const fixedSeed = 20_261_126;

/** Characters of a failing case in an error. A case can have megabytes. */
const longestCase = 4_000;

/** Settings of `npm run fuzz`. */
export const fuzzing = {
  /** Milliseconds for a property of weight 1. A property is repeated with other seeds until they are over. */
  share: Number(process.env.FUZZ_SHARE ?? 0),
  /** The smallest number of seeds for each property. */
  seeds: Number(process.env.FUZZ_SEEDS ?? 1),
  /** The seed of all properties. Default: a random one for each. */
  seed: process.env.FUZZ_SEED === undefined ? undefined : Number(process.env.FUZZ_SEED),
  /** The path to one failing case, as a failure prints it. */
  path: process.env.FUZZ_PATH ?? "",
};

/** Sets the seed of all properties of this process that have none, and the function that reports their results. */
export function setSeed(
  seed: number = fixedSeed,
  report: (details: fc.RunDetails<unknown>) => void = reportResult,
): void {
  // fast-check reads the path too, which its type of global settings leaves out.
  const settings: fc.GlobalParameters & { path: string } = { seed, path: fuzzing.path, reporter: report };
  fc.configureGlobal(settings);
}

/** Throws if a property failed. The first line is the command that repeats the failure, because a log may have only the first lines. */
export function reportResult(details: fc.RunDetails<unknown>): void {
  if (!details.failed) return;
  const { seed, counterexamplePath, errorInstance } = details;
  const reason = errorInstance instanceof Error ? errorInstance.message : String(errorInstance);
  const lines = [repeatCommand(seed, counterexamplePath), reason, fc.defaultReportMessage(details)];
  throw new Error(lines.map((line) => line?.slice(0, longestCase)).join("\n"), { cause: errorInstance });
}

/** Returns the command that repeats the current test with a seed. */
export function repeatCommand(seed: number, path: string | null): string {
  const test = TestRunner.getCurrentTest();
  const [file, name] = [test?.file.name ?? "", fullName(test)].map(
    (word) => `'${word.replaceAll("'", String.raw`'\''`)}'`,
  );
  return `Repeat it with: npm run fuzz -- ${file} --only ${name} --seed=${seed}${path ? ` --path ${path}` : ""}`;
}

/** Returns the names of the suites of a test and its own name, as the test runner compares them with a pattern. */
function fullName(task: { name: string; suite?: { name: string } | undefined } | undefined): string {
  if (!task) return "";
  return `${task.suite ? `${fullName(task.suite)} ` : ""}${task.name}`;
}
