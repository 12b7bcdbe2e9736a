// @ts-check
import { question } from "../content.mjs";
import { answer } from "../implementations/floor/answer.mjs";
import { Counting } from "../load/counting.mjs";
import { fail, job } from "../load/job.mjs";

/** @import { BenchmarkClient, ClientTarget } from "../types.ts" */

/*
 * The program that measures a client, in whose process it is: it calls a tool of the floor's server, one call after
 * another. It is told its job, and ends with its report.
 */

const { file, warmup, duration } = job;
/** @type {ClientTarget} */
const target = job.target.way === "memory" ? { ...job.target, answer } : job.target;
const counting = new Counting();
const state = { isDone: false };

try {
  const { connect } = await import(file);
  /** @type {BenchmarkClient} */
  const client = await connect(target);
  await Promise.race([measure(), call(client)]);
} catch (error) {
  fail(error);
}
process.exit();

async function measure() {
  const limit = performance.now() + warmup * 20;
  const enough = used() + warmup * 1_000;
  while (used() < enough && performance.now() < limit) await new Promise((resolve) => setTimeout(resolve, 50));
  const before = used();
  const report = await counting.during(duration);
  const cpu = used() - before;
  state.isDone = true;
  await new Promise((resolve) => process.send?.({ ...report, cpu }, undefined, undefined, resolve));
}

/** @param {BenchmarkClient} client */
async function call(client) {
  let turn = 0;
  while (!state.isDone) {
    const begun = performance.now();
    const text = await client.echo(question);
    if (text !== question) throw new Error(`"${text}" is no echo of "${question}".`);
    counting.add(performance.now() - begun);
    // In memory nothing else gives the timers their turn.
    if (target.way === "memory" && ++turn % 256 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
}

function used() {
  const { user, system } = process.cpuUsage();
  return user + system;
}
