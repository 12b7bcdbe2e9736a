// @ts-check
import { spawn } from "node:child_process";
import { Agent, request } from "node:http";

/** @import { BenchmarkClient, ClientTarget } from "../../types.ts" */

/** Connects a client without a library, which sends one request at a time. @param {ClientTarget} target @returns {Promise<BenchmarkClient>} */
export async function connect(target) {
  if (target.way === "memory") throw new Error("The floor has no transport in memory.");
  const send = target.way === "http" ? overHttp(target.url) : onStdio(target.command, target.args);
  let id = 0;
  return {
    async echo(text) {
      const params = { name: "echo", arguments: { text } };
      const response = await send(JSON.stringify({ jsonrpc: "2.0", id: ++id, method: "tools/call", params }));
      return JSON.parse(response).result.content[0].text;
    },
  };
}

/** @param {string} url @returns {(message: string) => Promise<string>} */
function overHttp(url) {
  const agent = new Agent({ keepAlive: true });
  const accept = "application/json, text/event-stream";
  return (message) =>
    new Promise((resolve, reject) => {
      const headers = { accept, "content-type": "application/json", "content-length": Buffer.byteLength(message) };
      const sent = request(url, { method: "POST", agent, headers }, (response) => {
        let body = "";
        response.setEncoding("utf8");
        response.on("data", (chunk) => (body += chunk));
        response.on("end", () => resolve(body));
      });
      sent.on("error", reject);
      sent.end(message);
    });
}

/** @param {string} command @param {readonly string[]} args @returns {(message: string) => Promise<string>} */
function onStdio(command, args) {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  /** @type {((line: string) => void) | undefined} */
  let onLine;
  let rest = "";
  child.stdout.setEncoding("utf8").on("data", (chunk) => {
    rest += String(chunk);
    const end = rest.indexOf("\n");
    if (end === -1) return;
    const line = rest.slice(0, end);
    rest = rest.slice(end + 1);
    onLine?.(line);
  });
  return (message) =>
    new Promise((resolve) => {
      onLine = resolve;
      child.stdin.write(`${message}\n`);
    });
}
