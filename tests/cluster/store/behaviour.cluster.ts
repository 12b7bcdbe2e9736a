import { redisStore } from "@mcparley/redis";
import { Cluster, Redis } from "ioredis";
import { createClient, createCluster, createSentinel } from "redis";
import { afterAll, beforeAll, expect } from "vitest";
import { testStore } from "../../store/store-behaviour.ts";
import { type RedisServer, startCluster, startRedis, startSentinel } from "../servers/redis.mjs";

type Client = Parameters<typeof redisStore>[0]["client"];
type Closable = { disconnect(): unknown } | { destroy(): unknown };

const valkeyServer = process.env.MCPARLEY_VALKEY;

let single: RedisServer;
let cluster: RedisServer[];
let valkey: RedisServer;
let valkeyCluster: RedisServer[];
let sentinel: Awaited<ReturnType<typeof startSentinel>>;
const closing: (() => unknown)[] = [];

beforeAll(async () => {
  [single, cluster, sentinel] = await Promise.all([startRedis(), startCluster(), startSentinel()]);
  if (valkeyServer === undefined) return;
  const how = { command: valkeyServer };
  [valkey, valkeyCluster] = await Promise.all([startRedis(how), startCluster(how)]);
});
afterAll(async () => {
  for (const close of closing) await close();
  const started = [single, ...cluster, sentinel, ...(valkeyServer === undefined ? [] : [valkey, ...valkeyCluster])];
  await Promise.all(started.map((server) => server.end()));
});

const host = "127.0.0.1";
const name = "main";
const ignore = (): void => {};
const byRedis = ([server]: RedisServer[]) => createClient({ url: server!.url }).on("error", ignore).connect();
const byIoredis = async ([server]: RedisServer[]) => new Redis(server!.port, host);
const byRedisCluster = (servers: RedisServer[]) =>
  createCluster({ rootNodes: servers.map(({ url }) => ({ url })) })
    .on("error", ignore)
    .connect();
const byIoredisCluster = async ([server]: RedisServer[]) => new Cluster([{ host, port: server!.port }]);
const where = () => [{ host, port: sentinel.port }];
const byRedisSentinel = () => createSentinel({ name, sentinelRootNodes: where() }).on("error", ignore).connect();
const byIoredisSentinel = async () => new Redis({ sentinels: where(), name });

type Way = [
  name: string,
  connect: (servers: RedisServer[]) => Promise<Client & Closable>,
  servers: () => RedisServer[],
];

const ways: Way[] = [
  ["Redis by redis", byRedis, () => [single]],
  ["Redis by ioredis", byIoredis, () => [single]],
  ["a cluster of Redis by redis", byRedisCluster, () => cluster],
  ["a cluster of Redis by ioredis", byIoredisCluster, () => cluster],
  ["Sentinel by redis", byRedisSentinel, () => [sentinel.master]],
  ["Sentinel by ioredis", byIoredisSentinel, () => [sentinel.master]],
];
if (valkeyServer !== undefined) {
  ways.push(
    ["Valkey by redis", byRedis, () => [valkey]],
    ["Valkey by ioredis", byIoredis, () => [valkey]],
    ["a cluster of Valkey by redis", byRedisCluster, () => valkeyCluster],
    ["a cluster of Valkey by ioredis", byIoredisCluster, () => valkeyCluster],
  );
}

function kept<T extends Closable>(client: T): T {
  closing.push(() => ("destroy" in client ? client.destroy() : client.disconnect()));
  return client;
}

let prefixes = 0;

for (const [name, connect, servers] of ways) {
  testStore(name, async () => {
    const store = redisStore({ client: kept(await connect(servers())), prefix: `test${prefixes++}:` });
    // Lifetimes are shortened; the elapsed time is less than the resolution.
    const pass = async (ms: number): Promise<void> => {
      for (const { url } of servers()) await shorten(url, ms);
    };
    return { store, pass, grain: 10_000 };
  });
}

async function shorten(url: string, ms: number): Promise<void> {
  const client = await createClient({ url }).connect();
  for (const key of await client.keys("*")) {
    const left = await client.pTTL(key);
    expect(left, `${key} has an end`).toBeGreaterThan(0);
    if (left <= ms) await client.del(key);
    else await client.pExpire(key, left - ms);
  }
  client.destroy();
}
