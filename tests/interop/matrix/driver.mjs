import { converse } from "./conversations.mjs";

/**
 * Runs the conversations that the command line assigns (`{"where":{...},"revisionKind":"legacy"}`), and ends the process. It
 * writes one line of JSON for each feature: `{"feature":"tools","ok":true}`, with an `error` if it failed.
 *
 * @param {(setup: import("./conversations.mjs").Setup) => Promise<import("./conversations.mjs").Peer>} connect
 */
export async function drive(connect) {
  process.on("unhandledRejection", (reason) => process.stderr.write(`unhandled: ${String(reason)}\n`));
  await converse(JSON.parse(process.argv[2] ?? "{}"), connect, (outcome) => {
    process.stdout.write(`${JSON.stringify(outcome)}\n`);
  });
  process.exit(0);
}
