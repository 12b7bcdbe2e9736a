// @ts-check
import {
  book,
  bookUri,
  fillerDescription,
  fillerProperties,
  greeting,
  itemText,
  page,
  pageUri,
  serverInfo,
  toolNames,
} from "../../content.mjs";
import { settings } from "../../settings.mjs";

/*
 * A server without a library: a switch on the method that stringifies objects. It checks nothing and caches nothing.
 */

const itemPrefix = "bench://items/";

/** @type {Record<string, { description: string, properties: object, required: string[] }>} */
const known = {
  echo: { description: "Says what it is told.", properties: { text: { type: "string" } }, required: ["text"] },
  add: {
    description: "Adds two numbers.",
    properties: { a: { type: "number" }, b: { type: "number" } },
    required: ["a", "b"],
  },
};

const tools = toolNames(settings.tools).map((name, index) => {
  const { description, properties, required } = known[name] ?? {
    description: fillerDescription(index - 2),
    properties: fillerProperties,
    required: ["query"],
  };
  return { name, description, inputSchema: { type: "object", properties, required } };
});

/** @param {{ id: unknown, method: string, params: any }} request @returns {object} the response */
export function answer({ id, method, params }) {
  const result = resultOf(method, params);
  if (result === undefined) return { jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } };
  if (settings.mode === "modern") return { jsonrpc: "2.0", id, result: { resultType: "complete", ...result } };
  return { jsonrpc: "2.0", id, result };
}

/** @param {string} method @param {any} params @returns {object | undefined} */
function resultOf(method, params) {
  switch (method) {
    case "initialize":
      return {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {}, prompts: {}, resources: {} },
        serverInfo,
      };
    case "server/discover":
      return { supportedVersions: ["2026-07-28"], capabilities: { tools: {}, prompts: {}, resources: {} }, serverInfo };
    case "tools/list":
      return { tools };
    case "tools/call":
      return call(params.name, params.arguments);
    case "prompts/get":
      return { messages: [{ role: "user", content: { type: "text", text: greeting(params.arguments.name) } }] };
    case "resources/read":
      return { contents: [{ uri: params.uri, mimeType: "text/plain", text: read(params.uri) }] };
    default:
      return undefined;
  }
}

/** @param {string} name @param {any} args @returns {object | undefined} */
function call(name, args) {
  switch (name) {
    case "echo":
      return { content: [{ type: "text", text: args.text }] };
    case "add": {
      const structuredContent = { sum: args.a + args.b };
      return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent };
    }
    case "change":
      return { content: [{ type: "text", text: "changed" }] };
    default:
      return undefined;
  }
}

/** @param {string} uri */
function read(uri) {
  if (uri === pageUri) return page;
  if (uri === bookUri) return book();
  return itemText(uri.slice(itemPrefix.length));
}
