// @ts-check
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { settings } from "../../settings.mjs";
import { answer } from "./answer.mjs";
import { changed, listen } from "./streams.mjs";

const hasSessions = settings.mode === "session";
const sendsEvents = settings.answers === "sse";
const sessions = new Map();

const http = createServer((request, response) => {
  if (request.method === "DELETE") {
    sessions.delete(request.headers["mcp-session-id"]);
    response.writeHead(204).end();
    return;
  }
  if (request.method !== "POST") {
    response.writeHead(405).end();
    return;
  }
  let body = "";
  request.setEncoding("utf8");
  request.on("data", (chunk) => (body += chunk));
  request.on("end", () => respond(request, response, JSON.parse(body)));
});
http.listen(0, "127.0.0.1", () => {
  const { port } = /** @type {import("node:net").AddressInfo} */ (http.address());
  process.stdout.write(`http://127.0.0.1:${port}/mcp\n`);
});

/** @param {import("node:http").IncomingMessage} request @param {import("node:http").ServerResponse} response @param {any} message */
function respond(request, response, message) {
  /** @type {Record<string, string | number>} */
  const headers = {};
  if (hasSessions && message.method === "initialize") {
    const id = randomUUID();
    sessions.set(id, {});
    headers["mcp-session-id"] = id;
  } else if (hasSessions && !sessions.has(request.headers["mcp-session-id"])) {
    response.writeHead(404).end();
    return;
  }
  if (message.id === undefined) {
    response.writeHead(202).end();
    return;
  }
  if (message.method === "subscriptions/listen") {
    listen(response, message.id);
    return;
  }
  if (message.params?.name === "change") changed();
  const json = JSON.stringify(answer(message));
  if (sendsEvents) {
    headers["content-type"] = "text/event-stream";
    response.writeHead(200, headers).end(`event: message\ndata: ${json}\n\n`);
  } else {
    headers["content-type"] = "application/json";
    headers["content-length"] = Buffer.byteLength(json);
    response.writeHead(200, headers).end(json);
  }
}
