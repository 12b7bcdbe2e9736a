// @ts-check
import { chunk, oneLine, tolerant } from "./reader.mjs";

/** @import { Reader } from "./reader.mjs" */

async function linesOfStdio() {
  const { LineLimit, LineReader, jsonLines } = await import("../../packages/mcparley/src/stdio/lines.ts");
  return (/** @type {string} */ text) => {
    const receiver = { message() {}, malformed() {}, failed() {}, closed() {} };
    const limit = new LineLimit(undefined);
    const reader = new LineReader(limit, jsonLines(receiver, limit));
    const bytes = Buffer.from(text);
    for (let start = 0; start < bytes.length; start += chunk.maxBytes) {
      reader.push(bytes.subarray(start, start + chunk.maxBytes));
    }
    reader.end();
  };
}

/** The readers of messages, pipes and texts of any kind. @type {readonly Reader[]} */
export const rpcReaders = [
  {
    name: "printable",
    load: async () => (await import("../../packages/mcparley/src/rpc/printable.ts")).printable,
  },
  {
    name: "printableJson",
    load: async () => (await import("../../packages/mcparley/src/rpc/printable.ts")).printableJson,
  },
  {
    name: "redact",
    load: async () => (await import("../../packages/mcparley/src/rpc/redact.ts")).redact,
    around: [
      {},
      { head: "token=" },
      { head: "--token " },
      { head: "bearer " },
      { head: "dpop " },
      { head: "https://" },
      { head: "sk-" },
    ],
  },
  {
    name: "redactKnown",
    load: async () => {
      const { redactKnown } = await import("../../packages/mcparley/src/auth/redact-known.ts");
      return (text) => redactKnown(text, ["aaaaaaaab", "secret-secret"]);
    },
  },
  {
    name: "repairJson",
    load: async () => {
      const { repairJson } = await import("../../packages/mcparley/src/rpc/well-formed.ts");
      return repairJson;
    },
    around: [{}, { head: "\\ud" }],
  },
  {
    name: "wellFormedJson",
    load: async () => (await import("../../packages/mcparley/src/rpc/well-formed.ts")).wellFormedJson,
  },
  {
    name: "parseJson",
    load: async () => tolerant((await import("../../packages/mcparley/src/rpc/parse-json.ts")).parseJson),
    around: [{}, { head: '["', tail: '"]' }, { head: '{"a":"', tail: '"}' }, { head: "[" }, { head: '{"' }],
  },
  {
    name: "fromBase64",
    load: async () => tolerant((await import("../../packages/mcparley/src/rpc/base64.ts")).fromBase64),
  },
  {
    name: "fromBase64Url",
    load: async () => tolerant((await import("../../packages/mcparley/src/rpc/base64.ts")).fromBase64Url),
  },
  { name: "stdio: lines", ...chunk, load: linesOfStdio },
  {
    name: "stdio: one line",
    load: async () => oneLine(await linesOfStdio()),
  },
  {
    name: "JSON-RPC message",
    load: async () => {
      const { classify } = await import("../../packages/mcparley/src/rpc/messages.ts");
      return (text) => classify({ jsonrpc: "2.0", id: text, method: text, params: { [text]: text } });
    },
  },
  {
    name: "stderr of a server",
    load: async () => {
      const { PassThrough } = await import("node:stream");
      const { exitedError, stderrTail } = await import("../../packages/mcparley/src/stdio/child-process.ts");
      return (text) => {
        const stream = new PassThrough();
        const tail = stderrTail(stream, "ignore", () => {});
        stream.emit("data", Buffer.from(text));
        return exitedError("a", { code: 1, signal: null }, { stderr: tail(), failureNote: "", hasSpoken: false });
      };
    },
    around: [{}, { head: "Error: " }, { head: "    at " }],
  },
];
