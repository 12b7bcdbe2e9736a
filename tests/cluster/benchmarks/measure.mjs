// @ts-check
import { Agent, request } from "node:http";
import { availableParallelism, loadavg } from "node:os";
import { deploy } from "../servers/deployment.mjs";
import { startRedis } from "../servers/redis.mjs";

/** @import { RedisServer } from "../servers/redis.mjs" */

/** Milliseconds of each round of measuring throughput, after one to warm up; requests that are under way at a time. */
const duration = 1_000;
const rounds = 4;
const atOnce = 32;
const sessions = 500;

const agent = new Agent({ keepAlive: true, maxSockets: atOnce });

/** Measures the throughput of several processes on this machine, and returns a report. Clients, nginx and Redis share it with them. */
export async function measure() {
  const lines = [`${availableParallelism()} processors, load ${loadavg()[0]?.toFixed(1)} at the beginning`, ""];
  const redis = await startRedis();
  try {
    for (const nodes of [1, 2, 3]) {
      for (const store of [undefined, redis]) lines.push(await throughput(nodes, store));
    }
    lines.push("", await restoring(redis), await recovering(redis));
  } finally {
    await redis.end();
    agent.destroy();
  }
  return lines.join("\n");
}

/** @param {number} nodes @param {RedisServer | undefined} redis */
async function throughput(nodes, redis) {
  const deployment = await deploy({ nodes, env: () => (redis ? { REDIS_URL: redis.url } : {}) });
  try {
    const modern = await perSecond(() => call(deployment.url, modernCall()));
    const session = redis ? await openSession(deployment.url) : undefined;
    const legacy = redis ? await perSecond(() => call(deployment.url, legacyCall(), session)) : undefined;
    const where = `${nodes} ${nodes === 1 ? "process " : "processes"} ${redis ? "with the store   " : "without a store  "}`;
    const inSession =
      legacy === undefined ? "" : `   ${String(Math.round(legacy)).padStart(6)} calls/s in a session of 2025-11-25`;
    return `${where} ${String(Math.round(modern)).padStart(6)} calls/s of 2026-07-28${inSession}`;
  } finally {
    await deployment.end();
  }
}

/** Sessions that one process opened are asked of another. @param {RedisServer} redis */
async function restoring(redis) {
  const deployment = await deploy({ nodes: 2, env: () => ({ REDIS_URL: redis.url }) });
  try {
    const [first, second] = deployment.nodes.map(({ url }) => url);
    const opened = await inTurn(Array.from({ length: sessions }), () => openSession(first ?? ""));
    const begun = performance.now();
    await inTurn(opened, (session) => call(second ?? "", { ...legacyCall(), method: "ping", params: {} }, session));
    return `${Math.round(sessions / ((performance.now() - begun) / 1_000))} sessions restored per second, by one process`;
  } finally {
    await deployment.end();
  }
}

/** A process is killed; its sessions are asked until each has answered. @param {RedisServer} redis */
async function recovering(redis) {
  const deployment = await deploy({ env: () => ({ REDIS_URL: redis.url }) });
  try {
    const owner = deployment.nodes[0]?.url ?? "";
    const opened = await inTurn(Array.from({ length: 100 }), () => openSession(owner));
    await deployment.kill(0);
    const begun = performance.now();
    const took = await inTurn(opened, async (session) => {
      for (;;) {
        const status = await call(deployment.url, legacyCall(), session).then(
          () => 200,
          () => 0,
        );
        if (status === 200) return performance.now() - begun;
      }
    });
    return `${Math.round(Math.max(...took))} ms until each of 100 sessions of a killed process has answered again`;
  } finally {
    await deployment.end();
  }
}

/** The best of a few rounds: whatever else a machine does only ever takes from one. @param {() => Promise<unknown>} act */
async function perSecond(act) {
  await during(act);
  let best = 0;
  for (let round = 0; round < rounds; round++) best = Math.max(best, await during(act));
  return best / (duration / 1_000);
}

/** @param {() => Promise<unknown>} act */
async function during(act) {
  const end = performance.now() + duration;
  let done = 0;
  const worker = async () => {
    for (; performance.now() < end; done++) await act();
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return done;
}

/** @template T, R @param {readonly T[]} items @param {(item: T) => Promise<R>} act */
async function inTurn(items, act) {
  /** @type {R[]} */
  const results = [];
  const waiting = items.values();
  const worker = async () => {
    for (const item of waiting) results.push(await act(item));
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}

/** @param {string} url */
async function openSession(url) {
  const clientInfo = { name: "bench", version: "1.0.0" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  const { session } = await call(url, { id: 1, method: "initialize", params });
  await call(url, { method: "notifications/initialized" }, session);
  return session ?? "";
}

const legacyCall = () => ({ id: 2, method: "tools/call", params: { name: "add", arguments: { a: 1, b: 2 } } });

const modernCall = () => ({
  id: 2,
  method: "tools/call",
  params: {
    name: "add",
    arguments: { a: 1, b: 2 },
    _meta: {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1.0.0" },
      "io.modelcontextprotocol/clientCapabilities": {},
    },
  },
});

/**
 * Sends a message and reads the answer to its end. Rejects for a status that is no success.
 *
 * @param {string} url
 * @param {{ id?: number, method: string, params?: object }} message
 * @param {string} [session]
 * @returns {Promise<{ session: string | undefined }>}
 */
function call(url, message, session) {
  const body = JSON.stringify({ jsonrpc: "2.0", ...message });
  const isModern = message.params !== undefined && "_meta" in message.params;
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    ...(session !== undefined && { "mcp-session-id": session, "mcp-protocol-version": "2025-11-25" }),
    ...(isModern && { "mcp-protocol-version": "2026-07-28", "mcp-method": message.method, "mcp-name": "add" }),
  };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST", agent, headers }, (answer) => {
      answer.resume();
      answer.on("error", reject);
      answer.on("end", () => {
        const { statusCode = 0 } = answer;
        const id = answer.headers["mcp-session-id"];
        if (statusCode < 300) resolve({ session: typeof id === "string" ? id : undefined });
        else reject(new Error(`${message.method} was answered with ${statusCode}`));
      });
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
