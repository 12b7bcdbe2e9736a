// @ts-check
import path from "node:path";

/** @import { Implementation } from "../types.ts" */

const everyMode = /** @type {const} */ (["stateless", "session", "modern"]);
const legacyModes = /** @type {const} */ (["stateless", "session"]);
const bothAnswers = /** @type {const} */ (["json", "sse"]);
const overStdio = { modes: /** @type {const} */ (["session"]) };

/** The implementation that all others are compared with: a server without a library. */
export const floor = "floor";
export const own = "mcparley";

/** @type {readonly Implementation[]} */
export const implementations = [
  {
    name: floor,
    isPeer: false,
    http: { modes: everyMode, answers: bothAnswers },
    stdio: { modes: ["session", "modern"] },
  },
  {
    name: own,
    isPeer: false,
    stdioImports: ["mcparley/server", "mcparley/stdio"],
    packages: ["mcparley"],
    // It answers with JSON unless it sends a message before the result, or the client accepts only event streams.
    http: { modes: everyMode, answers: bothAnswers, accept: { sse: "text/event-stream" } },
    stdio: { modes: ["session", "modern"] },
  },
  {
    name: "sdk-v1",
    isPeer: true,
    stdioImports: ["@modelcontextprotocol/sdk/server/mcp.js", "@modelcontextprotocol/sdk/server/stdio.js"],
    packages: ["@modelcontextprotocol/sdk"],
    http: { modes: legacyModes, answers: bothAnswers },
    stdio: overStdio,
  },
  {
    name: "sdk-v2",
    isPeer: true,
    stdioImports: ["@modelcontextprotocol/server", "@modelcontextprotocol/server/stdio"],
    packages: ["@modelcontextprotocol/server"],
    http: { modes: everyMode, answers: bothAnswers },
    stdio: { modes: ["session", "modern"] },
  },
  {
    name: "mcp-lite",
    isPeer: true,
    stdioImports: ["mcp-lite"],
    packages: ["mcp-lite"],
    // The `Accept` header decides the form of an answer.
    http: { modes: legacyModes, answers: bothAnswers, accept: { json: "application/json" } },
    stdio: overStdio,
  },
  {
    name: "tmcp",
    isPeer: true,
    stdioImports: ["tmcp", "@tmcp/adapter-zod", "@tmcp/transport-stdio"],
    packages: ["tmcp", "@tmcp/adapter-zod", "@tmcp/transport-stdio", "zod"],
    http: { modes: everyMode, answers: ["sse"] },
    stdio: { modes: ["session", "modern"] },
  },
  {
    name: "fastmcp",
    isPeer: true,
    stdioImports: ["fastmcp"],
    packages: ["fastmcp"],
    http: { modes: legacyModes, answers: bothAnswers },
    stdio: overStdio,
    lacks: { "stdio/10m": "It has a limit of 10 MiB that cannot be changed." },
  },
];

/** Returns the path of a server's program. @param {Implementation} implementation @param {string} peers the folder of the installed packages */
export function programOf(implementation, peers) {
  return path.join(folderOf(implementation, peers), "server.mjs");
}

/** The program of the least server on stdio. @param {Implementation} implementation @param {string} peers */
export function helloOf(implementation, peers) {
  return path.join(folderOf(implementation, peers), "hello.mjs");
}

/** Returns the folder of the programs of an implementation or a client. @param {Pick<Implementation, "name" | "isPeer">} implementation @param {string} peers */
export function folderOf({ name, isPeer }, peers) {
  return path.join(isPeer ? path.join(peers, "peers") : import.meta.dirname, name);
}
