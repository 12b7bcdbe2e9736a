// @ts-check
import { post } from "./request-bytes.mjs";

/** @import { LoadJob } from "../types.ts" */
/** @import { Connection } from "./connection.mjs" */

const clientInfo = { name: "load", version: "1.0.0" };
const initialized = JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" });

/** @param {string} revision */
export function initializeMessage(revision) {
  const params = { protocolVersion: revision, capabilities: {}, clientInfo };
  return JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params });
}

/** Opens a session, and returns its id. @param {Connection} connection @param {LoadJob} job @returns {Promise<string>} */
export async function openSession(connection, job) {
  const opened = await connection.ask(post(job, initializeMessage(job.revision)));
  const id = sessionIdOf(opened.head);
  if (opened.status !== 200 || id === undefined) throw new Error(`initialize was answered with ${opened.status}.`);
  const noted = await connection.ask(post(job, initialized, { "mcp-session-id": id }));
  if (noted.status !== 202) throw new Error(`notifications/initialized was answered with ${noted.status}.`);
  return id;
}

/** @param {string} head */
function sessionIdOf(head) {
  return /\r\nmcp-session-id: ([^\r]+)/i.exec(head)?.[1];
}
