// @ts-check
import { setTimeout as pause } from "node:timers/promises";
import { defaults, limits } from "../limits.mjs";
import { EventSocket } from "./event-socket.mjs";
import { modern, uris } from "./requests.mjs";

/** @import { Attacker } from "./site.mjs" */

const listen = "subscriptions/listen";
const filter = (/** @type {readonly string[]} */ resourceSubscriptions) => ({
  notifications: { toolsListChanged: true, resourceSubscriptions },
});

/** Opens more streams than the server has, with large filters and long ids, and holds them. @type {Attacker} */
const floodingStreams = {
  name: "floods listen streams",
  reaches: ["limits.listenStreams"],
  allows: ["opened"],
  pause: 500,
  prepare: (site) => {
    const request = modern(listen, filter(uris(defaults.subscriptions, 60)), "i".repeat(defaults.idLength));
    return async () => {
      const streams = Array.from({ length: limits.listenStreams + 30 }, () => new EventSocket(site.dial(), request));
      await Promise.all(streams.map(async ({ first }) => site.note(await first)));
      await site.pause(2_000);
      if (!site.isOver) site.peak("streams", streams.filter(({ isOpen }) => isOpen).length);
      for (const stream of streams) stream.destroy();
    };
  },
};

/** Sends filters and ids over the limits. @type {Attacker} */
const oversizedFilters = {
  name: "listen over the limits",
  reaches: ["limits.subscriptions", "limits.uriLength", "limits.sessionSize", "limits.idLength"],
  pause: 300,
  prepare: (site) => {
    const requests = [
      modern(listen, filter(uris(defaults.subscriptions + 1, 60))),
      modern(listen, filter(uris(1, defaults.uriLength + 1))),
      modern(listen, filter(uris(defaults.subscriptions, defaults.uriLength))),
      modern(listen, filter(uris(1_800, defaults.uriLength))),
      modern(listen, filter(uris(1, 60)), "i".repeat(defaults.idLength + 1)),
      modern(listen, filter(uris(1, 60)), "i".repeat(3_900_000)),
    ];
    return () => site.flood(2, requests.length, (index) => /** @type {Buffer} */ (requests[index]));
  },
};

/** Calls a tool with much progress and does not read the stream. @type {Attacker} */
const unreadStream = {
  name: "reads no stream",
  reaches: ["unread stream (16 MiB)"],
  pause: 2_000,
  prepare: (site) => {
    const request = modern("tools/call", { name: "gush", _meta: { progressToken: 1 } });
    return async () => {
      const socket = site.dial();
      socket.pause();
      socket.write(request);
      await site.pause(3_000);
      let end = "";
      socket.on("data", (chunk) => (end = (end + chunk.toString("latin1", chunk.length - 100)).slice(-100)));
      const closed = new Promise((resolve) => socket.once("close", () => resolve("closed")));
      socket.resume();
      const how = await Promise.race([closed, pause(5_000, "open", { ref: false })]);
      if (how === "open" || end.endsWith("\r\n0\r\n\r\n")) site.note("ok");
      else if (!site.isOver) site.note("unread stream (16 MiB)");
      socket.destroy();
    };
  },
};

/** Sends requests with large responses and reads none of them. @type {Attacker} */
const unreadResponses = {
  name: "reads no responses",
  reaches: [],
  allows: ["sent, unread"],
  pause: 500,
  prepare: (site) => {
    const large = modern("tools/call", { name: "echo", arguments: { text: "x".repeat(1_000_000) } });
    const small = modern("tools/call", { name: "echo", arguments: { text: "x".repeat(1_000) } });
    return async () => {
      const sockets = Array.from({ length: 8 }, (_, index) => {
        const socket = site.dial();
        socket.pause();
        for (let count = 0; count < (index < 4 ? 4 : 200); count++) socket.write(index < 4 ? large : small);
        return socket;
      });
      await site.pause(2_000);
      site.note("sent, unread", sockets.length);
      for (const socket of sockets) socket.destroy();
    };
  },
};

export const streamAttackers = [floodingStreams, oversizedFilters, unreadStream, unreadResponses];
