// @ts-check
import { performance } from "node:perf_hooks";
import { Program } from "../measure/program.mjs";
import { job as given, fail } from "./job.mjs";
import { StdioClient } from "./stdio-client.mjs";
import { takeTurns } from "./take-turns.mjs";

/** @import { StdioJob } from "../types.ts" */

/*
 * Starts a server and sends requests to its stdin, a given number at the same time. The parent process sends the job and the
 * turns, and can request the resource usage of the server.
 */

/** @type {StdioJob} */
const job = given;
const server = new Program({ side: "server", file: job.file, args: job.args, isProbed: true, input: "pipe" });
const client = new StdioClient(server.child, job);

process.on("message", (message) => {
  if (message === "cpu") server.ask("cpu").then((answer) => process.send?.({ answer }), fail);
  if (message === "end") server.end().then(() => process.exit(), fail);
});
try {
  await client.open();
  takeTurns(async (end, onAnswer) => {
    do await ask(onAnswer);
    while (performance.now() < end);
  });
} catch (error) {
  fail(error);
}

/** @param {(milliseconds: number) => void} onAnswer */
async function ask(onAnswer) {
  const begun = performance.now();
  await client.askMany(job.atOnce);
  const each = (performance.now() - begun) / job.atOnce;
  for (let count = 0; count < job.atOnce; count++) onAnswer(each);
}
