// @ts-check
import { Connection } from "./connection.mjs";
import { job as given, fail } from "./job.mjs";
import { ListenStream } from "./listen-stream.mjs";
import { Numbered, messageOf, modernHeaders, post } from "./request-bytes.mjs";
import { takeTurns } from "./take-turns.mjs";

/** @import { LoadJob } from "../types.ts" */

/*
 * Keeps many change streams open: it makes a change, waits until every stream has received the notification, and makes the
 * next. Its messages from and to the parent process are those of `http-load.mjs`.
 */

/** @type {LoadJob} */
const job = given;
const streams = Array.from({ length: job.connections }, (_, index) => new ListenStream(job, index));
const caller = new Connection(job.port);
const change = new Numbered(post(job, messageOf(job.operation, job.revision), modernHeaders(job.operation)));

try {
  // Opened in steps, because the backlog of connections that the server has not accepted is limited.
  for (const stream of streams) await stream.open();
  takeTurns(async (end, onChange) => {
    do await tell(onChange);
    while (performance.now() < end);
  });
} catch (error) {
  fail(error);
}

/** Causes a change, and waits for its notification on every stream. @param {(milliseconds: number) => void} onChange */
async function tell(onChange) {
  const begun = performance.now();
  change.become(change.id + 1);
  const heard = streams.map((stream) => stream.next());
  const { status } = await caller.ask(change.bytes);
  if (status !== 200) throw new Error(`The change was answered with ${status}.`);
  await Promise.all(heard);
  onChange(performance.now() - begun);
}
