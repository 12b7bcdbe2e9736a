// @ts-check
import { createInterface } from "node:readline";

/*
 * A hostile server of 2025-11-25 on stdio. Arguments: its behaviour in the call of its tool `call`, and for `slow` the
 * milliseconds between two bytes (default: 1,000):
 *
 * - die: exits with code 7 when it receives the call
 * - cut: exits in the middle of the response
 * - hang: never answers
 * - slow: writes the response byte by byte
 * - text, base64, structured: answers with 100 MB
 * - endless: writes a line that never ends
 * - garbage: writes a line that is not JSON, control characters and an invalid UTF-8 sequence before the response
 */
const [behaviour = "", delay = "1000"] = process.argv.slice(2);
const size = 100_000_000;
const serverInfo = { name: `stdio-${behaviour}`, version: "1.0.0" };
const done = { content: [{ type: "text", text: "done" }] };
const pause = () => new Promise((resolve) => setTimeout(resolve, Number(delay)));
const write = (/** @type {string | Uint8Array} */ chunk) =>
  new Promise((resolve) => process.stdout.write(chunk, () => resolve(undefined)));

createInterface({ input: process.stdin }).on("line", (line) => void answer(JSON.parse(line)));

/** @param {{ id?: number, method: string }} message */
async function answer({ id, method }) {
  if (id === undefined) return;
  if (method === "tools/call") return call(id);
  /** @type {Record<string, object>} */
  const results = {
    initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo },
    "tools/list": { tools: [{ name: "call", inputSchema: { type: "object" } }] },
    ping: {},
  };
  const error = { code: -32601, message: `The method ${method} does not exist.` };
  const result = results[method];
  await write(lineOf(id, result === undefined ? { error } : { result }));
}

/** @param {number} id */
async function call(id) {
  const response = lineOf(id, { result: done });
  switch (behaviour) {
    case "die":
      process.stderr.write("fatal: the server has failed\n", () => process.exit(7));
      return;
    case "cut":
      await write(response.slice(0, response.length / 2));
      process.exit(7);
      return;
    case "hang":
      return;
    case "slow":
      for (const character of response) {
        await write(character);
        await pause();
      }
      return;
    case "endless":
      await write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":"`);
      for (;;) await write("x".repeat(1_000_000));
    case "garbage":
      await write("Starting ...\n\0\u001b[2J\n");
      await write(new Uint8Array([0xc3, 0x28, 0xff, 0x0a]));
      await write(response);
      return;
    default:
      await write(lineOf(id, { result: largeResult() }));
  }
}

function largeResult() {
  if (behaviour === "base64") {
    return { content: [{ type: "image", mimeType: "image/png", data: "A".repeat(size) }] };
  }
  if (behaviour === "structured") {
    const rows = Array.from({ length: size / 1_000 }, () => "x".repeat(1_000));
    return { content: [], structuredContent: { rows } };
  }
  return { content: [{ type: "text", text: "x".repeat(size) }] };
}

/** @param {number} id @param {object} body */
function lineOf(id, body) {
  return `${JSON.stringify({ jsonrpc: "2.0", id, ...body })}\n`;
}
