// @ts-check
import { Connection } from "./connection.mjs";
import { Counting } from "./counting.mjs";
import { job as given, fail } from "./job.mjs";
import { ListenStream } from "./listen-stream.mjs";
import { Numbered, messageOf, modernHeaders, post } from "./request-bytes.mjs";

/** @import { LoadJob } from "../types.ts" */

/*
 * The program that holds many streams of changes open: it makes a change, waits until every stream has told of it, and
 * makes the next. Its job and what it says to its parent are those of `http-load.mjs`.
 */

/** @type {LoadJob} */
const job = given;
const streams = Array.from({ length: job.connections }, (_, index) => new ListenStream(job, index));
const caller = new Connection(job.port);
const change = new Numbered(post(job, messageOf(job.operation, job.revision), modernHeaders(job.operation)));
const counting = new Counting();

process.once("message", () => {
  counting.during(job.duration).then((report) => process.send?.(report), fail);
});
try {
  // Not all at once: a server listens for a limited number of connections that it has not accepted.
  for (const stream of streams) await stream.open();
  process.send?.("running");
  for (;;) await tell();
} catch (error) {
  fail(error);
}

/** Makes a change, and waits until it was told on every stream. */
async function tell() {
  const begun = performance.now();
  change.become(change.id + 1);
  const heard = streams.map((stream) => stream.next());
  const { status } = await caller.ask(change.bytes);
  if (status !== 200) throw new Error(`The change was answered with ${status}.`);
  await Promise.all(heard);
  counting.add(performance.now() - begun);
}
