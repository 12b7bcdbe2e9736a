// @ts-check
import { makeReady } from "./ready.mjs";
import { runProgram } from "./run-program.mjs";

makeReady();
process.exitCode = await runProgram([
  "packages/cli/dist/main.js",
  "serve",
  "examples/handbook",
  ...process.argv.slice(2),
]);
