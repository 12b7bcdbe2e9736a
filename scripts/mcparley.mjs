// @ts-check
import { makeReady } from "./ready.mjs";

/** Runs the command `mcparley` of this clone: `npm run mcparley -- list TARGET`. Installs and builds missing parts. */
makeReady();
await import(new URL("../packages/cli/dist/main.js", import.meta.url).href);
