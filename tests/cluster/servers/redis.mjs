// @ts-check
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createClient } from "redis";
import { Program, freePorts } from "./program.mjs";

/** A Redis or Valkey server on loopback that persists acknowledged writes. */
export class RedisServer {
  /** @type {Program | undefined} */
  #program;
  #folder = mkdtempSync(path.join(tmpdir(), "mcparley-redis-"));
  /** @type {string} */
  #command;
  /** @type {readonly string[]} */
  #options;

  /** @param {number} port @param {string} command @param {readonly string[]} options */
  constructor(port, command, options) {
    this.port = port;
    this.#command = command;
    this.#options = options;
  }

  get url() {
    return `redis://127.0.0.1:${this.port}`;
  }

  async start() {
    const durable = ["--appendonly", "yes", "--appendfsync", "always", "--save", ""];
    const place = ["--bind", "127.0.0.1", "--port", String(this.port), "--dir", this.#folder];
    this.#program = new Program(this.#command, [...place, ...durable, ...this.#options]);
    await this.#program.says(/Ready to accept connections/);
  }

  /** Ends it as a machine does that loses its power. */
  async kill() {
    await this.#program?.end("SIGKILL");
  }

  /** @param {NodeJS.Signals} signal */
  signal(signal) {
    this.#program?.signal(signal);
  }

  async restart() {
    await this.kill();
    await this.start();
  }

  async end() {
    await this.#program?.end();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Starts one server. @param {{ command?: string, options?: readonly string[] }} [how] */
export async function startRedis({ command = "redis-server", options = [] } = {}) {
  return retried(async () => {
    const [port = 0] = await freePorts(1);
    const server = new RedisServer(port, command, options);
    await server.start();
    return server;
  });
}

/** Starts a cluster of three servers, each with a third of the slots. @param {{ command?: string }} [how] */
export async function startCluster({ command = "redis-server" } = {}) {
  const servers = await Promise.all([0, 1, 2].map(() => startClusterServer(command)));
  const clients = await Promise.all(servers.map(({ url }) => createClient({ url }).connect()));
  const third = Math.ceil(16_384 / 3);
  for (const [index, client] of clients.entries()) {
    const range = [index * third, Math.min(16_384, (index + 1) * third) - 1].map(String);
    await client.sendCommand(["CLUSTER", "ADDSLOTSRANGE", ...range]);
    await client.sendCommand(["CLUSTER", "SET-CONFIG-EPOCH", String(index + 1)]);
  }
  for (const server of servers.slice(1)) {
    await clients[0]?.sendCommand(["CLUSTER", "MEET", "127.0.0.1", String(server.port), String(server.busPort)]);
  }
  for (const client of clients) await untilTrue(async () => isWhole(await client.clusterInfo()));
  for (const client of clients) client.destroy();
  return servers;
}

/** @param {string} info */
function isWhole(info) {
  return info.includes("cluster_state:ok") && info.includes("cluster_known_nodes:3") && info.includes("cluster_size:3");
}

/** @param {string} command */
function startClusterServer(command) {
  return retried(async () => {
    const [port = 0, busPort = 0] = await freePorts(2);
    const timeout = ["--cluster-node-timeout", "1000", "--cluster-require-full-coverage", "no"];
    const options = ["--cluster-enabled", "yes", "--cluster-port", String(busPort), ...timeout];
    const server = Object.assign(new RedisServer(port, command, options), { busPort });
    await server.start();
    return server;
  });
}

/** Starts a server, a replica of it, and a Sentinel that promotes the replica if the server fails. */
export async function startSentinel() {
  const master = await startRedis();
  const replica = await startRedis({ options: ["--replicaof", "127.0.0.1", String(master.port)] });
  const folder = mkdtempSync(path.join(tmpdir(), "mcparley-sentinel-"));
  const [port = 0] = await freePorts(1);
  const file = path.join(folder, "sentinel.conf");
  const lines = [
    "bind 127.0.0.1",
    `port ${port}`,
    `sentinel monitor main 127.0.0.1 ${master.port} 1`,
    "sentinel down-after-milliseconds main 500",
    "sentinel failover-timeout main 5000",
  ];
  writeFileSync(file, `${lines.join("\n")}\n`);
  const program = new Program("redis-server", [file, "--sentinel"]);
  await program.says(/\+monitor master/);
  await program.says(/\+slave slave/);
  return {
    port,
    master,
    replica,
    /** Waits until the replica has all current writes of the master. */
    async untilCopied() {
      const client = await createClient({ url: master.url }).connect();
      await client.wait(1, 5_000);
      client.destroy();
    },
    async end() {
      await program.end();
      await Promise.all([master.end(), replica.end()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Looks again until something is so. @param {() => Promise<boolean>} look */
export async function untilTrue(look) {
  for (const end = Date.now() + 20_000; ;) {
    if (await look()) return;
    if (Date.now() > end) throw new Error(`It did not come true within 20 s: ${look.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Repeats a start if another process has taken the port. @template T @param {() => Promise<T>} start @returns {Promise<T>} */
async function retried(start) {
  for (let tries = 1; ; tries++) {
    try {
      return await start();
    } catch (error) {
      if (tries === 5) throw error;
    }
  }
}
