// @ts-check
import { spawn } from "node:child_process";
import { Agent, request } from "node:http";
import { bodyReader, handWritten } from "../../peers/hand-written.mjs";

/** @import { BenchmarkClient, ClientTarget } from "../../types.ts" */
/** @import { Headers, Message } from "../../peers/hand-written.mjs" */

/** A request to send. @typedef {(json: string, headers: Headers) => Promise<Message>} Send */

/** Connects a client without a library. On stdio it sends one request at a time. @param {ClientTarget} target @returns {Promise<BenchmarkClient>} */
export async function connect({ way, revision, url, command, args }) {
  if (way === "memory") throw new Error("The floor has no transport in memory.");
  return handWritten(revision, way === "http" ? overHttp(url) : onStdio(command, args));
}

/** @param {string} url @returns {Send} */
function overHttp(url) {
  const agent = new Agent({ keepAlive: true });
  const { hostname, port, pathname } = new URL(url);
  return (json, given) =>
    new Promise((resolve, reject) => {
      const headers = { ...given, "content-length": Buffer.byteLength(json) };
      const sent = request({ hostname, port, path: pathname, method: "POST", agent, headers }, (response) => {
        try {
          const body = bodyReader(response.statusCode ?? 0, response.headers["content-type"]);
          response.on("data", (chunk) => body.write(chunk));
          response.on("end", () => resolve(body.end()));
          response.on("error", reject);
        } catch (error) {
          reject(error);
        }
      });
      sent.on("error", reject);
      sent.end(json);
    });
}

/** @param {string} command @param {readonly string[]} args @returns {Send} */
function onStdio(command, args) {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  /** @type {((message: Message) => void) | undefined} */
  let onMessage;
  let rest = "";
  child.stdout.setEncoding("utf8").on("data", (chunk) => {
    rest += String(chunk);
    const end = rest.indexOf("\n");
    if (end === -1) return;
    const line = rest.slice(0, end);
    rest = rest.slice(end + 1);
    onMessage?.(JSON.parse(line));
  });
  return (json) =>
    new Promise((resolve) => {
      onMessage = resolve;
      child.stdin.write(`${json}\n`);
    });
}
