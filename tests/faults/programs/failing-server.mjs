// @ts-check
import { createInterface } from "node:readline";

/**
 * A server of 2026-07-28 on stdio that fails when its tool is called. The first argument is the failure: `exit` ends the process,
 * `cut` ends it in the middle of the answer, `hang` never answers, and `none` answers.
 */
const how = process.argv[2];

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  if (method === "tools/call" && params.name === "fail") fail(id);
  else answer(id, resultOf(method));
}

/** @param {number} id */
function fail(id) {
  if (how === "hang") return;
  if (how === "none") return answer(id, resultOf("tools/call"));
  const line = JSON.stringify({ jsonrpc: "2.0", id, result: resultOf("tools/call") });
  process.stdout.write(how === "cut" ? line.slice(0, line.length / 2) : "", () => process.exit(1));
}

/** @param {string} method */
function resultOf(method) {
  if (method === "server/discover") return { supportedVersions: ["2026-07-28"], capabilities: { tools: {} } };
  if (method === "tools/call") return { content: [], structuredContent: { pid: process.pid } };
  return { tools: ["fail", "work"].map((name) => ({ name, inputSchema: { type: "object" } })) };
}

/** @param {number} id @param {object} result */
function answer(id, result) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result: { resultType: "complete", ...result } })}\n`);
}
