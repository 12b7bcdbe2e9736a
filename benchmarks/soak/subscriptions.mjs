// @ts-check
import { once } from "node:events";
import { connect as connectSocket, createServer as createBalancer } from "node:net";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { connect } from "mcparley/client";
import { createServer, resource } from "mcparley/server";
import { Program } from "../measure/program.mjs";
import { judgeCount } from "./judge.mjs";

/** @import { AddressInfo } from "node:net" */
/** @import { Finding } from "./judge.mjs" */

const perRevision = 5;
const revisions = ["2026-07-28", "2025-11-25"];
/** Milliseconds within which a change must reach every subscriber. */
const patience = 30_000;
/** Bytes of heap that one subscription may leave behind. The value covers the variation of the collector. */
const allowed = 100;

/**
 * Restarts a server behind a balancer, one process after another, while clients have subscriptions. After each restart, every subscriber must
 * receive the gap and a change.
 *
 * @param {number} restarts @returns {Promise<Finding[]>}
 */
export async function rollingRestarts(restarts) {
  let server = startServer();
  let port = await portOf(server);
  const balancer = createBalancer((socket) => forward(socket, port)).listen(0, "127.0.0.1");
  await once(balancer, "listening");
  const url = `http://127.0.0.1:${/** @type {AddressInfo} */ (balancer.address()).port}/mcp`;
  const wanted = revisions.flatMap((revision) => Array.from({ length: perRevision }, () => revision));
  const subscribers = await Promise.all(wanted.map((revision) => subscribe(url, revision)));
  let received = 0;
  try {
    for (let restart = 0; restart < restarts; restart++) {
      const next = startServer();
      port = await portOf(next);
      for (const subscriber of subscribers) subscriber.changes = 0;
      server.tell("drain");
      // The gap after the restart is a change.
      await untilChanged(subscribers);
      const gap = subscribers.filter(({ changes }) => changes > 0).length;
      for (const subscriber of subscribers) subscriber.changes = 0;
      const client = await connect(url);
      await client.callTool("change");
      await client.close();
      await untilChanged(subscribers);
      received += gap + subscribers.filter(({ changes }) => changes > 0).length;
      await server.end();
      server = next;
      process.stderr.write(`restart ${restart + 1}/${restarts}: ${received} changes received\n`);
    }
    const open = subscribers.filter(({ isOpen }) => isOpen).length;
    return [
      judgeCount(`subscriptions open after ${restarts} restarts`, subscribers.length, open),
      judgeCount("changes received by subscribers", subscribers.length * restarts * 2, received),
    ];
  } finally {
    await Promise.all(subscribers.map(({ client }) => client.close()));
    balancer.close();
    await server.end();
  }
}

/**
 * Opens and closes subscriptions, and measures the heap that each leaves behind.
 *
 * @param {number} count @param {() => void} collect @returns {Promise<Finding[]>}
 */
export async function manySubscriptions(count, collect) {
  const server = createServer({ name: "s", version: "1", resources: { n: resource("note://a", { read: () => "" }) } });
  /** @type {Finding[]} */
  const findings = [];
  for (const revision of revisions) {
    const client = await connect(server, { revision });
    const some = async (/** @type {number} */ times) => {
      for (let time = 0; time < times; time++) await (await client.listen({ uris: ["note://a"] }, () => {})).close();
      collect();
      return process.memoryUsage().heapUsed;
    };
    await some(Math.min(count, 5_000));
    const before = await some(0);
    const each = Math.round(((await some(count)) - before) / count);
    const what = `heap after ${count.toLocaleString("en-US")} subscriptions of ${revision}`;
    findings.push({ what, isGood: each <= allowed, found: `${each} bytes each` });
    await client.close();
  }
  return findings;
}

function startServer() {
  const file = path.join(import.meta.dirname, "restarting-server.mjs");
  return new Program({ side: "server", file, args: [] });
}

/** @param {Program} server */
async function portOf(server) {
  return Number(new URL(await server.firstLine()).port);
}

/** @param {import("node:net").Socket} socket @param {number} port */
function forward(socket, port) {
  const server = connectSocket(port, "127.0.0.1");
  socket.pipe(server).pipe(socket);
  socket.on("error", () => server.destroy());
  server.on("error", () => socket.destroy());
}

/** @typedef {{ client: import("mcparley/client").Client, changes: number, isOpen: boolean }} Subscriber */

/** @param {string} url @param {string} revision @returns {Promise<Subscriber>} */
async function subscribe(url, revision) {
  const client = await connect(url, { revision });
  /** @type {Subscriber} */
  const subscriber = { client, changes: 0, isOpen: true };
  const { closed } = await client.listen({ tools: true }, () => subscriber.changes++);
  void closed.then(() => (subscriber.isOpen = false));
  return subscriber;
}

/** Waits until every subscriber has received a change. @param {readonly Subscriber[]} subscribers */
async function untilChanged(subscribers) {
  const last = performance.now() + patience;
  while (subscribers.some(({ changes }) => changes === 0) && performance.now() < last) await pause(20);
}
