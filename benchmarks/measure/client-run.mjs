// @ts-check
import { question } from "../content.mjs";
import { answer } from "../implementations/floor/answer.mjs";
import { fail, job } from "../load/job.mjs";
import { takeTurns } from "../load/take-turns.mjs";

/** @import { BenchmarkClient, ClientTarget } from "../types.ts" */

/*
 * Measures a client in the same process: it calls a tool of the floor's server, one call after another. The parent process
 * sends the job, then the turns.
 */

/** @type {ClientTarget} */
const target = job.target.way === "memory" ? { ...job.target, answer } : job.target;

try {
  const { connect } = await import(job.file);
  /** @type {BenchmarkClient} */
  const client = await connect(target);
  takeTurns(async (end, onAnswer) => {
    do await call(client, onAnswer);
    while (performance.now() < end);
  });
} catch (error) {
  fail(error);
}

/** @param {BenchmarkClient} client @param {(milliseconds: number) => void} onAnswer */
async function call(client, onAnswer) {
  const begun = performance.now();
  const text = await client.echo(question);
  if (text !== question) throw new Error(`"${text}" is not an echo of "${question}".`);
  onAnswer(performance.now() - begun);
}
