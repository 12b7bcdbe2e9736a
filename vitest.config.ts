import { fileURLToPath } from "node:url";
import { availableParallelism } from "node:os";
import path from "node:path";
import { type TestProjectInlineConfiguration, configDefaults, defineConfig } from "vitest/config";
import { filesWithOwnProcess } from "./tests/support/own-process.ts";
import { filesWithProperties } from "./tests/support/property-files.ts";

const source = (name: string): string => fileURLToPath(new URL(`packages/mcparley/src/${name}`, import.meta.url));

/**
 * Makes each module of the library load its lazy imports immediately. `tests/support/preloaded.ts` waits for them before the
 * first test of a file. Otherwise the time of a fake clock would pass while a module is read from the disk,
 * and tests would fail on a busy machine.
 */
const preload = {
  name: "preload-modules",
  transform(code: string, id: string): string | undefined {
    if (!id.startsWith(source("")) || id.endsWith(".test.ts")) return undefined;
    const names = [...code.matchAll(/\bimport\("(\.[^"]+)"\)/g)].map(([, name = ""]) => name);
    if (names.length === 0) return undefined;
    return [code, ...names.map((name) => `void import(${JSON.stringify(name)}).catch(() => {});`)].join("\n");
  },
};

/** The modules that `package.json` chooses by the runtime. It maps them to what was built. */
const chosen: Readonly<Record<string, string>> = {
  "#command-transport": "stdio/command-transport.ts",
  "#default-send": "node/default-send.ts",
  "#guarded-send": "node/guarded-send.ts",
  "#loopback-sign-in": "node/sign-in/loopback-sign-in.ts",
  "#re2js": "schema/json-schema/re2js.ts",
  "#undici": "node/http-client/undici.ts",
};

/** Makes the sources import sources. What was built imports what was built, so that each class exists once. */
const importsOfSources = {
  name: "imports-of-sources",
  enforce: "pre" as const,
  resolveId(id: string, importer: string | undefined): string | undefined {
    const file = importer?.startsWith(source("")) === true ? chosen[id] : undefined;
    return file === undefined ? undefined : source(file);
  },
};

const root = fileURLToPath(new URL(".", import.meta.url));
/** Returns the files that a search finds in all folders with tests. */
const filesOf = (search: (folder: string) => string[]): string[] =>
  ["packages", "tests", "benchmarks"]
    .flatMap((name) => search(path.join(root, name)))
    // Relative, because Vitest reads them as patterns and the path of the repository may have characters such as "[".
    .map((file) => path.relative(root, file).split(path.sep).join("/"));

const withOwnProcess = filesOf(filesWithOwnProcess);

/**
 * The tests that start programs: the command, the examples, the samples of the guides, hosts and their servers, published clients, the
 * compiler. Each start takes up to a second of CPU time, so that they are a suite of their own: `npm run check -- programs`.
 */
const programs = [
  "benchmarks",
  "tests/chat",
  "tests/command",
  "tests/create",
  "tests/docs/commands.test.ts",
  "tests/docs/samples.test.ts",
  "tests/examples",
  "tests/host/hostile",
  "tests/host/processes",
  "tests/interop",
  "tests/network",
  "tests/types",
  "tests/workers",
];
const testsOfPrograms = programs.map((name) => (name.endsWith(".ts") ? name : `${name}/**/*.test.ts`));
const startsProgram = (file: string): boolean => programs.some((name) => `${file}/`.startsWith(`${name}/`));

const setupFiles = ["tests/support/preloaded.ts", "tests/support/seeded.ts"];

/** A project: some of the test files, and how they are run. */
const project = (test: TestProjectInlineConfiguration["test"]): TestProjectInlineConfiguration => ({
  plugins: [preload, importsOfSources],
  test: {
    setupFiles,
    // Timeouts only guard against tests that never end. A busy machine can take a minute for what takes a second otherwise.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 120_000, interval: 20 } },
    env: sampleKeys,
    ...test,
  },
});

/** The keys that the samples of the guides read from the environment. They have no default, so that no reader serves one. */
const sampleKeys = Object.fromEntries(
  ["ALICE", "BOB", "CI", "DASHBOARD", "EDITOR", "MCP", "NOTES", "READER"].map((name) => [
    `${name}_KEY`,
    `key-of-${name.toLowerCase()}-for-tests`,
  ]),
);

/** The files with properties. `npm run fuzz` runs them with random seeds. */
const properties = project({
  name: "properties",
  include: filesOf(filesWithProperties),
  runner: "tests/support/fuzz-runner.ts",
});
const isFuzzed = process.env.FUZZ_SHARE !== undefined;

/** The suites of `npm test` and `npm run check -- programs`. */
const suites = [
  project({
    name: "own process",
    include: withOwnProcess.filter((file) => !startsProgram(file)),
  }),
  // If each file had its own process, loading the library again would be half of the CPU time of all tests.
  project({
    name: "shared process",
    isolate: false,
    include: ["packages/*/src/**/*.test.ts", "tests/**/*.test.ts"],
    exclude: [...configDefaults.exclude, "**/.generated/**", ...withOwnProcess, ...testsOfPrograms],
    setupFiles: [...setupFiles, "tests/support/shared-process.ts"],
  }),
  project({
    name: "programs, own process",
    include: withOwnProcess.filter(startsProgram),
  }),
  project({
    name: "programs",
    isolate: false,
    include: testsOfPrograms,
    exclude: [...configDefaults.exclude, "**/.generated/**", ...withOwnProcess],
    setupFiles: [...setupFiles, "tests/support/shared-process.ts"],
  }),
];

export default defineConfig({
  test: {
    globalSetup: "tests/support/separate-folders.ts",
    // One more than the cores: many tests wait for timers or for other processes.
    maxWorkers: availableParallelism() + 1,
    projects: isFuzzed ? [properties] : suites,
  },
});
