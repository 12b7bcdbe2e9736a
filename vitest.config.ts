import { defineConfig } from "vitest/config";

const commandTransport = new URL("packages/mcparley/src/stdio/command-transport.ts", import.meta.url).pathname;

export default defineConfig({
  // The package maps this import to what was built; tests run on the sources.
  resolve: { alias: { "#command-transport": commandTransport } },
  test: {
    include: ["packages/*/src/**/*.test.ts", "tests/**/*.test.ts"],
    testTimeout: 20_000,
    hookTimeout: 20_000,
  },
});
