// @ts-check
import { question, toolNames } from "../content.mjs";
import { fail, job } from "../load/job.mjs";
import { takeTurns } from "../load/take-turns.mjs";
import { settings } from "../settings.mjs";
import { Answers } from "./client-answer.mjs";

/** @import { BenchmarkClient, ClientTarget, ClientWork } from "../types.ts" */

/*
 * Measures a client in the same process, which repeats one operation. The first argument is the job with the settings of the server.
 * The parent process sends the turns, and can request the numbers of finished operations and of requests to the server in memory.
 */

/** @type {Record<ClientWork["operation"], (client: BenchmarkClient) => Promise<void>>} */
const operations = { call, list };
const { work } = /** @type {{ work: ClientWork }} */ (job);
const run = operations[work.operation];
const names = toolNames(settings.tools);
const answers = new Answers();
let finished = 0;

process.on("message", (asked) => {
  if (asked === "operations") process.send?.({ answer: { finished, requests: answers.count } });
});

try {
  const { connect } = await import(job.file);
  /** @type {ClientTarget} */
  const target = { ...job.target, answer: (request) => answers.to(request) };
  /** @type {BenchmarkClient} */
  const client = await connect(target);
  takeTurns((end, onAnswer) => {
    const lane = async () => {
      do {
        const begun = performance.now();
        await run(client);
        onAnswer(performance.now() - begun);
        finished++;
      } while (performance.now() < end);
    };
    return Promise.all(Array.from({ length: work.atOnce }, lane));
  });
} catch (error) {
  fail(error);
}

/** @param {BenchmarkClient} client */
async function call(client) {
  const text = await client.echo(question);
  if (text !== question) throw new Error(`"${text}" is not an echo of "${question}".`);
}

/** @param {BenchmarkClient} client */
async function list(client) {
  const tools = await client.listTools();
  const isComplete = tools.length === names.length && tools.every(({ name }, index) => name === names[index]);
  if (!isComplete) throw new Error(`${tools.length} tools were listed; expected ${names.length} with other names.`);
}
