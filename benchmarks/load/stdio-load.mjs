// @ts-check
import { performance } from "node:perf_hooks";
import { Program } from "../measure/program.mjs";
import { warmUp } from "../measure/warm-up.mjs";
import { Counting } from "./counting.mjs";
import { job as given, fail } from "./job.mjs";
import { StdioClient } from "./stdio-client.mjs";

/** @import { StdioJob } from "../types.ts" */

/*
 * The program that starts a server and asks it on its stdin, so many requests at a time: it is told its job, and ends with its
 * report, which says what the server used as well.
 */

/** @type {StdioJob} */
const job = given;
const counting = new Counting();
const server = new Program({ side: "server", file: job.file, args: job.args, isProbed: true, input: "pipe" });
const state = { isDone: false };

try {
  const client = new StdioClient(server.child, job);
  await client.open();
  const asking = ask(client);
  await Promise.race([measure(), asking]);
} catch (error) {
  fail(error);
}
await server.end();
if (process.connected) process.disconnect();

async function measure() {
  await warmUp(server, job.warmup);
  const before = await server.ask("cpu");
  const report = await counting.during(job.duration);
  const cpu = (await server.ask("cpu")) - before;
  state.isDone = true;
  process.send?.({ ...report, cpu });
}

/** @param {StdioClient} client */
async function ask(client) {
  while (!state.isDone) {
    const begun = performance.now();
    await client.askMany(job.atOnce);
    const each = (performance.now() - begun) / job.atOnce;
    for (let count = 0; count < job.atOnce; count++) counting.add(each);
  }
}
