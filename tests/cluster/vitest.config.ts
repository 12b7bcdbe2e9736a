import { defineConfig } from "vitest/config";

const commandTransport = new URL("../../packages/mcparley/src/stdio/command-transport.ts", import.meta.url).pathname;

/** The tests that need servers which `npm run test:cluster` installs. `npm test` leaves them out. */
export default defineConfig({
  resolve: { alias: { "#command-transport": commandTransport } },
  test: {
    root: new URL("../../", import.meta.url).pathname,
    include: ["tests/cluster/**/*.cluster.ts"],
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
