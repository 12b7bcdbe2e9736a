// @ts-check
import { defaults, sessions } from "../limits.mjs";
import { EventSocket } from "./event-socket.mjs";
import { head, inSession, initialize, initializeOf, message, uris } from "./requests.mjs";

/** @import { Attacker, Site } from "./site.mjs" */

const padding = "x".repeat(3_900_000);

/** Opens sessions with the largest allowed record, and sends nothing in them. @type {Attacker} */
const floodingInitialize = {
  name: "floods initialize, never initialized",
  reaches: [],
  allows: ["sessions.max"],
  pause: 1_000,
  prepare: (site) => {
    const request = initializeOf(defaults.sessionSize);
    return () => site.flood(4, sessions.max + 50, () => request);
  },
};

/** Sends records over the limit. @type {Attacker} */
const oversizedInitialize = {
  name: "initialize over the limit",
  reaches: ["limits.sessionSize"],
  allows: ["sessions.max"],
  pause: 500,
  prepare: (site) => {
    const requests = [
      initializeOf(defaults.sessionSize + 1),
      initialize({ name: "attacker", version: "1", title: padding }),
      initialize(undefined, { experimental: { padding: { padding } } }),
    ];
    return () => site.flood(3, requests.length, (index) => /** @type {Buffer} */ (requests[index]));
  },
};

/** Opens sessions, uses each once, and leaves them. @type {Attacker} */
const idleSessions = {
  name: "idle sessions",
  reaches: [],
  allows: ["sessions.max", "404"],
  pause: 1_000,
  prepare: (site) => async () => {
    const request = initializeOf(defaults.sessionSize - 1_000);
    const work = async () => {
      const connection = site.connection();
      for (let count = 0; count < 30 && !site.isOver; count++) await site.open(connection, { request });
      connection.close();
    };
    await Promise.all([1, 2, 3, 4].map(work));
  },
};

/** Keeps more sessions busy than `sessions.max` allows, each with an open stream. @type {Attacker} */
const busySessions = {
  name: "busy sessions",
  reaches: ["sessions.max"],
  allows: ["404", "opened"],
  pause: 1_000,
  prepare: (site) => async () => {
    /** @type {EventSocket[]} */
    const streams = [];
    // One after another: a session whose stream is not open yet could be displaced by the next one.
    const connection = site.connection();
    for (let count = 0; count < sessions.max + 60 && !site.isOver; count++) {
      const id = await site.open(connection);
      if (id === undefined) continue;
      const stream = new EventSocket(site.dial(), head("GET", { accept: "text/event-stream", "mcp-session-id": id }));
      streams.push(stream);
      site.note(await stream.first);
    }
    connection.close();
    await site.pause(2_000);
    if (!site.isOver) site.peak("sessions", streams.filter(({ isOpen }) => isOpen).length);
    for (const stream of streams) stream.destroy();
  },
};

/** Subscribes sessions to as many resources as possible, and more; unsubscribes and subscribes again. @type {Attacker} */
const subscribing = {
  name: "subscribes sessions",
  reaches: ["limits.subscriptions", "limits.uriLength", "limits.sessionSize"],
  allows: ["404", "sessions.max"],
  pause: 3_000,
  prepare: (site) => {
    const short = uris(defaults.subscriptions + 1, 60);
    const long = uris(defaults.subscriptions + 1, defaults.uriLength);
    const tooLong = uris(1, defaults.uriLength + 1);
    const churn = async (/** @type {readonly string[]} */ list, /** @type {number} */ again) => {
      const connection = site.connection();
      const id = await site.open(connection);
      if (id !== undefined) await subscribeTo(site, { id, connection, list, again });
      connection.close();
    };
    return async () => {
      await Promise.all([churn([...short, ...tooLong], 100), churn(long, 20)]);
    };
  },
};

/**
 * @param {Site} site
 * @param {{ id: string, connection: import("../../load/connection.mjs").Connection, list: readonly string[], again: number }} session
 */
async function subscribeTo(site, { id, connection, list, again }) {
  const send = (/** @type {string} */ method, /** @type {string} */ uri) =>
    site.ask(connection, inSession(id, message(method, { uri })));
  for (const uri of list) {
    if (site.isOver || (await send("resources/subscribe", uri)) === "404") return;
  }
  for (const uri of list.slice(0, again)) {
    if (site.isOver) return;
    await send("resources/unsubscribe", uri);
    await send("resources/subscribe", uri);
  }
}

export const sessionAttackers = [floodingInitialize, oversizedInitialize, idleSessions, busySessions, subscribing];
