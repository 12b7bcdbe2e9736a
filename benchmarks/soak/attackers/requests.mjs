// @ts-check

/** @typedef {Readonly<Record<string, string>>} Headers */

const legacyRevision = "2025-11-25";
const modernRevision = "2026-07-28";
const accept = "application/json, text/event-stream";

/** @param {string} message @param {Headers} headers */
export function post(message, headers = {}) {
  return Buffer.concat([
    Buffer.from(head("POST", { ...headers, "content-length": String(Buffer.byteLength(message)) })),
    Buffer.from(message),
  ]);
}

/** Returns the head of a request, with the empty line after it. @param {string} method @param {Headers} headers */
export function head(method, headers = {}) {
  const all = { host: "127.0.0.1", "content-type": "application/json", accept, ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} /mcp HTTP/1.1\r\n${lines.join("")}\r\n`;
}

/** @param {string} method @param {object} params @param {string | number} id */
export function message(method, params = {}, id = 1) {
  return JSON.stringify({ jsonrpc: "2.0", id, method, params });
}

/** Returns a POST of 2026-07-28. @param {string} method @param {Record<string, unknown>} params @param {string | number} id */
export function modern(method, params = {}, id = 1) {
  const { _meta, ...rest } = params;
  const meta = {
    "io.modelcontextprotocol/protocolVersion": modernRevision,
    "io.modelcontextprotocol/clientInfo": { name: "attacker", version: "1.0.0" },
    "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
    .../** @type {object} */ (_meta),
  };
  return post(message(method, { ...rest, _meta: meta }, id), modernHeaders(method, params.name));
}

/** @param {string} method @param {unknown} [name] @returns {Headers} */
export function modernHeaders(method, name) {
  const named = typeof name === "string" ? { "mcp-name": name } : {};
  return { "mcp-protocol-version": modernRevision, "mcp-method": method, ...named };
}

/** Returns a POST in a session. @param {string} session @param {string} text */
export function inSession(session, text, revision = legacyRevision) {
  return post(text, { "mcp-session-id": session, "mcp-protocol-version": revision });
}

/** @param {object} clientInfo @param {object} capabilities */
export function initialize(
  clientInfo = { name: "attacker", version: "1" },
  capabilities = {},
  revision = legacyRevision,
) {
  return post(message("initialize", { protocolVersion: revision, capabilities, clientInfo }));
}

/** @param {string} title */
const entitled = (title) => ({ name: "attacker", version: "1", title });

/** Returns an `initialize` request of which a session keeps the given number of characters. @param {number} size */
export function initializeOf(size) {
  const params = { protocolVersion: legacyRevision, capabilities: {}, clientInfo: entitled("") };
  return initialize(entitled("x".repeat(size - JSON.stringify(params).length)));
}

export const initialized = JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" });

/** Returns different URIs of the given length. @param {number} count @param {number} length */
export function uris(count, length) {
  return Array.from({ length: count }, (_, index) => `note://${String(index).padStart(length - 7, "0")}`);
}
