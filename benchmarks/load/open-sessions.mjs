// @ts-check
import { Connection } from "./connection.mjs";
import { job as given } from "./job.mjs";
import { openSession } from "./open-session.mjs";

/** @import { LoadJob } from "../types.ts" */

/*
 * The program that opens sessions and leaves them: it opens so many each time it is told a number, and says when that
 * is done.
 */

/** @type {LoadJob} */
const job = given;
const connections = Array.from({ length: job.connections }, () => new Connection(job.port));

process.on("message", (count) => {
  open(Number(count)).then(
    () => process.send?.("opened"),
    (/** @type {Error} */ error) => process.send?.({ failed: error.message }),
  );
});
process.send?.("running");

/** @param {number} count */
async function open(count) {
  let left = count;
  await Promise.all(
    connections.map(async (connection) => {
      while (left-- > 0) await openSession(connection, job);
    }),
  );
}
