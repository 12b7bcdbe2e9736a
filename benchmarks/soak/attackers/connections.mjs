// @ts-check
import { setTimeout as pause } from "node:timers/promises";
import { defaults, limits, timeouts } from "../limits.mjs";
import { head, modern, modernHeaders } from "./requests.mjs";
import { verdictOf } from "./verdict.mjs";

/** @import { Attacker, Site } from "./site.mjs" */
/** @import { Socket } from "node:net" */

/** Milliseconds between two bytes of a slow request. */
const drip = 200;
const callHead = (/** @type {Record<string, string>} */ more) =>
  head("POST", { ...modernHeaders("tools/call", "echo"), ...more });

/** Opens connections that send nothing, and connections whose head never ends. @type {Attacker} */
const slowHeads = {
  name: "connections without a request",
  reaches: ["headersTimeout"],
  pause: 100,
  prepare: (site) => async () => {
    const sockets = Array.from({ length: 60 }, (_, index) => {
      const socket = site.dial();
      return { socket, stop: index % 2 === 0 ? () => {} : dripInto(socket, "POST /mcp HTTP/1.1\r\nx: ", "x") };
    });
    await endings(site, sockets, () => "headersTimeout");
  },
};

/** Sends more bodies at once than one caller may, byte by byte. @type {Attacker} */
const slowBodies = {
  name: "bodies that never end",
  reaches: ["bodyTimeout", "limits.requests"],
  pause: 100,
  prepare: (site) => async () => {
    const beginning = callHead({ "content-length": "10000" });
    const sockets = Array.from({ length: limits.requests / 2 + 20 }, () => {
      const socket = site.dial();
      return { socket, stop: dripInto(socket, beginning, " ") };
    });
    await endings(site, sockets, verdictOfText);
  },
};

/** Sends bodies over the limit, with and without a length. @type {Attacker} */
const largeBodies = {
  name: "bodies over the limit",
  reaches: ["maxBody"],
  // The server cuts off a body of more than twice the limit, so the client may not receive its refusal.
  allows: ["closed", "limits.requests"],
  pause: 700,
  prepare: (site) => {
    const piece = Buffer.alloc(64 * 1024, "x");
    const chunk = Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from("\r\n")]);
    const send = async (/** @type {string} */ beginning, /** @type {Buffer} */ part, /** @type {number} */ size) => {
      const socket = site.dial();
      const answer = new Promise((resolve) => {
        let text = "";
        socket.on("data", (/** @type {Buffer} */ data) => {
          text += data.toString("latin1");
          if (text.includes("}")) resolve(verdictOfText(text));
        });
        socket.once("close", () => resolve(text === "" ? "closed" : verdictOfText(text)));
      });
      socket.write(beginning);
      for (let sent = 0; sent < size && !socket.destroyed; sent += part.length) {
        if (!socket.write(part)) await drained(socket);
      }
      site.note(String(await Promise.race([answer, pause(10_000, "no answer", { ref: false })])));
      socket.destroy();
    };
    return async () => {
      const { maxBody } = defaults;
      await send(callHead({ "content-length": String(maxBody + piece.length) }), piece, maxBody + piece.length);
      await send(callHead({ "content-length": "99999999" }), piece, 3 * maxBody);
      await send(callHead({ "transfer-encoding": "chunked" }), chunk, maxBody + 2 * chunk.length);
      await send(callHead({ "transfer-encoding": "chunked" }), chunk, 4 * maxBody);
    };
  },
};

/** Sends one request on each connection, and then nothing. @type {Attacker} */
const idleConnections = {
  name: "idle connections",
  reaches: ["keepAliveTimeout"],
  allows: ["limits.requests"],
  pause: 100,
  prepare: (site) => async () => {
    const request = modern("tools/call", { name: "echo", arguments: { text: "x" } });
    const sockets = Array.from({ length: 40 }, () => {
      const socket = site.dial();
      socket.write(request);
      return { socket, stop: () => {} };
    });
    await endings(site, sockets, (text) =>
      text.startsWith("HTTP/1.1 200 ") ? "keepAliveTimeout" : verdictOfText(text),
    );
  },
};

/**
 * Waits until the server has closed all sockets, and counts how each ended.
 *
 * @param {Site} site @param {readonly { socket: Socket, stop: () => void }[]} sockets
 * @param {(text: string) => string} verdict Returns the verdict for the received text.
 */
async function endings(site, sockets, verdict) {
  const limit = Math.max(...Object.values(timeouts)) * 2;
  const work = sockets.map(async ({ socket, stop }) => {
    let text = "";
    socket.on("data", (chunk) => (text += chunk.toString("latin1")));
    const closed = new Promise((resolve) => socket.once("close", () => resolve("closed")));
    const how = await Promise.race([closed, site.pause(limit)]);
    stop();
    socket.destroy();
    if (how === "closed") site.note(verdict(text));
    else if (!site.isOver) site.note("still open");
  });
  await Promise.all(work);
}

/** Waits until a socket can take more, or is closed. @param {Socket} socket @returns {Promise<void>} */
function drained(socket) {
  return new Promise((resolve) => {
    const done = () => {
      socket.off("drain", done).off("close", done);
      resolve();
    };
    socket.on("drain", done).on("close", done);
  });
}

/** Writes a beginning and then one more piece at regular intervals. @param {Socket} socket @param {string} beginning @param {string} piece */
function dripInto(socket, beginning, piece) {
  socket.write(beginning);
  const timer = setInterval(() => socket.write(piece), drip);
  return () => clearInterval(timer);
}

/** @param {string} text a whole response */
function verdictOfText(text) {
  if (text === "") return "closed";
  return verdictOf({ status: Number(text.slice(9, 12)), body: Buffer.from(text) });
}

export const connectionAttackers = [slowHeads, slowBodies, largeBodies, idleConnections];
