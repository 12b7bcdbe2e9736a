import { fileURLToPath } from "node:url";
import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

const source = (name: string): string => fileURLToPath(new URL(`packages/mcparley/src/${name}`, import.meta.url));

/**
 * Lets each module of the library also load at once what it loads on first use. `tests/support/preloaded.ts` waits for
 * that before the first test of a file. Otherwise the time of a fake clock would pass while a module is read from the disk,
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

export default defineConfig({
  plugins: [preload],
  // The package maps these imports to what was built; tests run on the sources.
  resolve: {
    alias: {
      "#command-transport": source("stdio/command-transport.ts"),
      "#default-fetch": source("node/default-fetch.ts"),
      "#guarded-send": source("node/guarded-send.ts"),
      "#loopback-sign-in": source("node/sign-in/loopback-sign-in.ts"),
    },
  },
  test: {
    include: ["packages/*/src/**/*.test.ts", "tests/**/*.test.ts", "benchmarks/**/*.test.ts"],
    globalSetup: "tests/support/separate-folders.ts",
    setupFiles: "tests/support/preloaded.ts",
    // One fewer than the cores is what there would be otherwise, which on two is one.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // Timeouts only guard against tests that never end. A busy machine can take a minute for what takes a second otherwise.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 120_000, interval: 20 } },
  },
});
