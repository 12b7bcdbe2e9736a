// @ts-check
import { createServer } from "node:net";
import { settings } from "../settings.mjs";
import { Answers } from "./client-answer.mjs";

/*
 * The server that measured clients call over HTTP. It reads requests from the bytes of a socket, because a server on `node:http`
 * would take longer for an answer than some clients. The parent process can request the number of the measured requests.
 */

const sendsEvents = settings.answers === "sse";
const answers = new Answers();

const server = createServer({ noDelay: true }, (socket) => {
  /** @type {Buffer} */
  let rest = Buffer.alloc(0);
  socket.on("data", (chunk) => {
    rest = answerAll(rest.length === 0 ? chunk : Buffer.concat([rest, chunk]), (response) => socket.write(response));
  });
  socket.on("error", () => socket.destroy());
});
server.listen(0, "127.0.0.1", () => {
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  process.stdout.write(`http://127.0.0.1:${port}/mcp\n`);
});

process.on("message", (question) => {
  if (question === "requests") process.send?.({ answer: answers.count });
});
process.on("disconnect", () => process.exit());

/** Answers the complete requests. Returns the bytes after them. @param {Buffer} bytes @param {(response: string) => void} write */
function answerAll(bytes, write) {
  let start = 0;
  for (;;) {
    const headEnd = bytes.indexOf("\r\n\r\n", start);
    if (headEnd === -1) return bytes.subarray(start);
    const head = bytes.toString("latin1", start, headEnd);
    if (/^transfer-encoding:/im.test(head)) throw new Error("A measured request must have a length.");
    const bodyEnd = headEnd + 4 + Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
    if (bytes.length < bodyEnd) return bytes.subarray(start);
    write(head.startsWith("POST ") ? responseTo(bytes.toString("utf8", headEnd + 4, bodyEnd)) : emptyResponse(405));
    start = bodyEnd;
  }
}

/** @param {string} body */
function responseTo(body) {
  const message = JSON.parse(body);
  if (message.id === undefined) return emptyResponse(202);
  const json = JSON.stringify(answers.to(message));
  return sendsEvents ? eventStream(`event: message\ndata: ${json}\n\n`) : plain(json);
}

/** @param {number} status */
function emptyResponse(status) {
  return `${headOf(status)}Content-Length: 0\r\n\r\n`;
}

/** @param {string} json */
function plain(json) {
  return `${headOf(200)}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(json)}\r\n\r\n${json}`;
}

/** An event stream with one event, whose length the client does not know in advance. @param {string} events */
function eventStream(events) {
  const length = Buffer.byteLength(events).toString(16);
  return `${headOf(200)}Content-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n${length}\r\n${events}\r\n0\r\n\r\n`;
}

/** The head of a response, with the headers that most servers send. @param {number} status */
function headOf(status) {
  return `HTTP/1.1 ${status} Status\r\nDate: ${new Date().toUTCString()}\r\nConnection: keep-alive\r\nKeep-Alive: timeout=60\r\n`;
}
