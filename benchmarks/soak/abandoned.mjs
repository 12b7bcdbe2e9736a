// @ts-check
import { setTimeout as pause } from "node:timers/promises";
import { Connection } from "../load/connection.mjs";
import { initializeMessage } from "../load/open-session.mjs";
import { messageOf, post } from "../load/request-bytes.mjs";
import { echo } from "../workloads/operations.mjs";
import { jobOf, legacy } from "./rude-visitors.mjs";

const connections = 8;

/**
 * Opens a number of sessions and abandons them. If the server refuses a session, it waits and tries again. Returns the number of refusals.
 *
 * @param {number} port @param {number} count
 */
export async function abandonSessions(port, count) {
  const initialize = post(jobOf(port, legacy), initializeMessage(legacy));
  let left = count;
  let refused = 0;
  const open = async () => {
    const connection = new Connection(port);
    while (left > 0) {
      left--;
      const { status } = await connection.ask(initialize);
      if (status === 200) continue;
      if (status !== 503) throw new Error(`initialize was answered with ${status}.`);
      left++;
      refused++;
      await pause(100);
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: connections }, open));
  return refused;
}

/** Returns the number of these sessions that still exist. @param {number} port @param {readonly string[]} ids */
export async function stillKnown(port, ids) {
  const connection = new Connection(port);
  let known = 0;
  for (const id of ids) {
    const { status } = await connection.ask(
      post(jobOf(port, legacy), messageOf(echo, legacy), { "mcp-session-id": id }),
    );
    if (status !== 404) known++;
  }
  connection.close();
  return known;
}
