// @ts-check
import assert from "node:assert/strict";

/** @import { Target } from "./checks.mjs" */

/** The credentials of a user of the example. */
export const token = { authorization: "Bearer token-of-alice" };

const modernRevision = "2026-07-28";

/** @param {object} message @param {Record<string, string>} [headers] */
export function post(message, headers = {}) {
  const common = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  return { headers: { ...token, ...common, ...headers }, body: JSON.stringify(message) };
}

/** Opens a legacy session. Returns the headers of its requests. @param {Target} target @returns {Promise<Record<string, string>>} */
export async function openSession({ wire, url, revision }) {
  const { pathname } = new URL(url);
  const opened = await wire.send(pathname, initialize(revision));
  assert.equal(opened.status, 200, opened.text);
  const id = opened.headers["mcp-session-id"];
  const headers = { "mcp-protocol-version": revision, ...(id !== undefined && { "mcp-session-id": String(id) }) };
  const initialized = await wire.send(pathname, post({ jsonrpc: "2.0", method: "notifications/initialized" }, headers));
  assert.equal(initialized.status, 202, initialized.text);
  return headers;
}

/** @param {string} protocolVersion */
function initialize(protocolVersion) {
  const params = { protocolVersion, capabilities: {}, clientInfo: { name: "frameworks", version: "1.0.0" } };
  return post({ jsonrpc: "2.0", id: 1, method: "initialize", params });
}

/** Returns a valid request that needs no session. @param {Target} target */
export function requestOf({ revision, isModern }) {
  if (!isModern) return initialize(revision);
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": modernRevision,
    "io.modelcontextprotocol/clientInfo": { name: "frameworks", version: "1.0.0" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const message = { jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta } };
  return post(message, { "mcp-protocol-version": modernRevision, "mcp-method": "tools/list" });
}
