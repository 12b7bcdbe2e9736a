// @ts-check
import { Connection } from "./connection.mjs";
import { job as given } from "./job.mjs";
import { openSession } from "./open-session.mjs";

/** @import { LoadJob } from "../types.ts" */

/*
 * Opens sessions and abandons them. Each message of the parent process contains the number of sessions to open. The reply is
 * sent when they are open.
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
