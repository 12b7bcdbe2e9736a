import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const source = (name: string): string => fileURLToPath(new URL(`../../packages/mcparley/src/${name}`, import.meta.url));

/** The tests that need servers which `npm run check -- cluster` installs. `npm test` leaves them out. */
export default defineConfig({
  resolve: {
    alias: {
      "#command-transport": source("stdio/command-transport.ts"),
      "#default-send": source("node/default-send.ts"),
      "#re2js": source("schema/json-schema/re2js.ts"),
      "#undici": source("node/http-client/undici.ts"),
    },
  },
  test: {
    root: fileURLToPath(new URL("../..", import.meta.url)),
    include: ["tests/cluster/**/*.cluster.ts"],
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
