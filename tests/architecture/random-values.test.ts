import { readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import config from "../../vitest.config.ts";
import { filesWithProperties } from "../support/property-files.ts";
import { root } from "./source-files.ts";

const folders = ["packages", "tests", "benchmarks", "examples"].map((name) => path.join(root, name));
/** The files of `npm run fuzz`. */
const fuzzed = folders.flatMap(filesWithProperties).map(nameOf);
/** All code with tests, and the code that tests import. */
const files = folders.flatMap(codeIn).map((file) => ({ name: nameOf(file), code: readFileSync(file, "utf8") }));
const self = "tests/architecture/random-values.test.ts";

function nameOf(file: string): string {
  return path.relative(root, file).split(path.sep).join("/");
}

function codeIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) return /^(?:node_modules|dist|\.generated)$/.test(entry.name) ? [] : codeIn(file);
    return /\.[cm]?[jt]s$/.test(entry.name) ? [file] : [];
  });
}

/** Returns the lines of other files that have a pattern, each with the name of its file. */
function linesWith(pattern: RegExp, isAllowed: (name: string) => boolean = () => false): string[] {
  return files
    .filter(({ name }) => name !== self && !isAllowed(name))
    .flatMap(({ name, code }) =>
      code.split("\n").flatMap((line) => (pattern.test(line) ? [`${name}: ${line.trim()}`] : [])),
    );
}

describe("npm run fuzz", () => {
  test("runs each file that checks a property", () => {
    expect(fuzzed.length).toBeGreaterThan(25);
    const isFuzzed = (name: string): boolean => fuzzed.includes(name) || name === "tests/fuzz/holds.ts";
    expect(linesWith(/\bfc\.(?:assert|check|sample|statistics)\(|^\s*holds\(/, isFuzzed)).toEqual([]);
  });

  test("finds properties by the name fc, under which each file imports fast-check", () => {
    const others = linesWith(/\b(?:from|import|require)\b.*"(?:fast-check|@fast-check\/.*)"/);
    expect(others.filter((line) => !line.endsWith(': import fc from "fast-check";'))).toEqual(
      others.filter((line) => line.endsWith(': import type fc from "fast-check";')),
    );
  });
});

describe("npm test", () => {
  test("sets the seed of properties in all suites", () => {
    const projects = config.test?.projects ?? [];
    expect(projects.length).toBeGreaterThan(0);
    for (const project of projects) {
      expect(project).toMatchObject({
        test: { setupFiles: expect.arrayContaining(["tests/support/seeded.ts"]) as string[] },
      });
    }
  });

  test("uses the seed for each way to check a property", () => {
    const { seed } = fc.readConfigureGlobal();
    expect(seed).toEqual(expect.any(Number));
    const values = fc.array(fc.integer(), { minLength: 5 });
    expect(fc.check(fc.property(values, () => true)).seed).toBe(seed);
    expect(fc.sample(values, 3)).toEqual(fc.sample(values, { seed: seed!, numRuns: 3 }));
  });

  test("has no other random values", () => {
    expect(linesWith(/\bseed:/, (name) => !fuzzed.includes(name))).toEqual([]);
    const isTest = (name: string): boolean =>
      /^tests\/|\.test\.ts$/.test(name) && !name.startsWith("tests/comparison/");
    expect(linesWith(/\bMath\.random\(/, (name) => !isTest(name))).toEqual([]);
  });
});

test("a failed property has the command that repeats it, with its seed and path, in its first line", () => {
  const { seed } = fc.readConfigureGlobal();
  const fails = (): void => fc.assert(fc.property(fc.nat(), (number) => number < 3));
  const name = "a failed property has the command that repeats it, with its seed and path, in its first line";
  expect(fails).toThrow(
    new RegExp(`^Repeat it with: npm run fuzz -- '${self}' --only '${name}' --seed=${seed} --path \\d[\\d:]*\n`),
  );
  expect(fails).toThrow("Counterexample: [3]");
});
