// @ts-check
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { Connection } from "../load/connection.mjs";
import { initializeMessage, openSession } from "../load/open-session.mjs";
import { lines, messageOf, modernHeaders, modernRevision, post } from "../load/request-bytes.mjs";

/** @import { LoadJob, Operation } from "../types.ts" */
/** @import { Visit } from "./visitors.mjs" */

export const legacy = "2025-11-25";
const bothForms = "application/json, text/event-stream";

/** @param {string} name @returns {Operation} */
const calling = (name) => ({
  name,
  method: "tools/call",
  mirrored: name,
  params: { name, arguments: {} },
  expected: { kind: "text", text: "" },
});

/** @param {number} port @param {string} revision @returns {LoadJob} */
export const jobOf = (port, revision) => ({
  port,
  revision,
  connections: 1,
  operation: calling("wait"),
  sessions: "none",
  accept: bothForms,
});

/** Opens a session and abandons it. @type {Visit} */
const abandoning = async ({ port, tally }) => {
  const connection = new Connection(port);
  try {
    tally.abandoned.push(await openSession(connection, jobOf(port, legacy)));
  } finally {
    connection.close();
  }
};

/** Opens a stream in a session, and breaks the connection. @type {Visit} */
const droppingStream = async ({ port }) => {
  const connection = new Connection(port);
  const id = await openSession(connection, jobOf(port, legacy));
  connection.close();
  const headers = { host: `127.0.0.1:${port}`, accept: "text/event-stream", "mcp-session-id": id };
  await sendAndDrop(port, `GET /mcp HTTP/1.1\r\n${lines(headers)}\r\n\r\n`, 100);
};

/** Calls a tool, and breaks the connection before it has answered. @param {string} name @returns {Visit} */
const droppingCall =
  (name) =>
  ({ port }) => {
    const operation = calling(name);
    const request = post(jobOf(port, modernRevision), messageOf(operation, modernRevision), modernHeaders(operation));
    return sendAndDrop(port, request, 60);
  };

/** Reads nothing of a long stream, and breaks the connection. @type {Visit} */
const notReading = async ({ port }) => {
  const operation = calling("count");
  const message = messageOf(operation, modernRevision).replace('"_meta":{', '"_meta":{"progressToken":1,');
  const socket = connect(port, "127.0.0.1").on("error", () => {});
  socket.pause();
  socket.write(post(jobOf(port, modernRevision), message, modernHeaders(operation)));
  await pause(300);
  socket.destroy();
};

/** Sends half of a request, waits, and breaks the connection. @type {Visit} */
const hanging = ({ port }) => {
  const request = post(jobOf(port, legacy), initializeMessage(legacy));
  return sendAndDrop(port, request.subarray(0, request.length - 20), 2_000);
};

/** Sends invalid requests, and requires that each is refused. @type {Visit} */
const misbehaving = async ({ port }) => {
  const job = jobOf(port, legacy);
  const wrong = [
    post(job, "{"),
    post(job, "[]"),
    post(job, "null"),
    post(job, `${"[".repeat(100)}${"]".repeat(100)}`),
    post(job, initializeMessage(legacy), { origin: "https://evil.example" }),
    post(job, initializeMessage(legacy), { "mcp-session-id": "no such session" }),
    post({ ...job, accept: "image/png" }, initializeMessage(legacy)),
    post(job, messageOf(calling("echo"), modernRevision)),
    Buffer.from(`PUT /mcp HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-length: 0\r\n\r\n`),
    Buffer.from("nonsense\r\n\r\n"),
  ];
  for (const bytes of wrong) await refused(port, bytes);
  const large = { host: `127.0.0.1:${port}`, "content-type": "application/json", accept: bothForms };
  await refused(
    port,
    Buffer.from(`POST /mcp HTTP/1.1\r\n${lines({ ...large, "content-length": "99999999" })}\r\n\r\n{`),
  );
};

/** @type {readonly [string, number, Visit][]} */
export const rudeVisitors = [
  ["abandons a session", 12, abandoning],
  ["drops a stream", 5, droppingStream],
  ["drops a call", 6, droppingCall("wait")],
  ["drops a stream of progress", 4, droppingCall("count")],
  ["reads nothing", 3, notReading],
  ["hangs", 3, hanging],
  ["misbehaves", 3, misbehaving],
];

/** @param {number} port @param {Buffer | string} bytes @param {number} after milliseconds */
async function sendAndDrop(port, bytes, after) {
  const socket = connect(port, "127.0.0.1").on("error", () => {});
  socket.on("data", () => {});
  socket.write(bytes);
  await pause(after);
  socket.resetAndDestroy();
}

/** @param {number} port @param {Buffer} bytes */
async function refused(port, bytes) {
  const socket = connect(port, "127.0.0.1").on("error", () => {});
  socket.write(bytes);
  const [first] = await Promise.race([once(socket, "data"), pause(5_000, [undefined], { ref: false })]);
  socket.destroy();
  const status = Number(/^HTTP\/1.1 (\d+)/.exec(String(first))?.[1]);
  if (!(status >= 400 && status < 500)) throw new Error(`${bytes.toString("utf8", 0, 20)} was answered with ${first}`);
}
