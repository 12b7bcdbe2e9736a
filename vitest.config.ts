import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

const commandTransport = new URL("packages/mcparley/src/stdio/command-transport.ts", import.meta.url).pathname;

export default defineConfig({
  // The package maps this import to what was built; tests run on the sources.
  resolve: { alias: { "#command-transport": commandTransport } },
  test: {
    include: ["packages/*/src/**/*.test.ts", "tests/**/*.test.ts"],
    // One fewer than the cores is what there would be otherwise, which on two is one.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    testTimeout: 20_000,
    hookTimeout: 20_000,
  },
});
