import { redisStore } from "@mcparley/redis";
import { Cluster, Redis } from "ioredis";
import { createClient, createCluster, createSentinel } from "redis";
import { afterAll, beforeAll, expect } from "vitest";
import { testStore } from "../store/store-behaviour.ts";
import { type RedisServer, startCluster, startRedis, startSentinel } from "./servers/redis.mjs";

type Client = Parameters<typeof redisStore>[0]["client"];

let single: RedisServer;
let cluster: RedisServer[];
let sentinel: Awaited<ReturnType<typeof startSentinel>>;
const closing: (() => unknown)[] = [];

beforeAll(async () => {
  [single, cluster, sentinel] = await Promise.all([startRedis(), startCluster(), startSentinel()]);
});
afterAll(async () => {
  for (const close of closing) await close();
  await Promise.all([single, ...cluster, sentinel].map((server) => server.end()));
});

const host = "127.0.0.1";
const masters = (): RedisServer[] => [single];
const nodes = (): RedisServer[] => cluster;
const name = "main";

const ways: [name: string, connect: () => Promise<Client>, servers: () => RedisServer[]][] = [
  ["redis", async () => kept(await createClient({ url: single.url }).on("error", ignore).connect()), masters],
  ["ioredis", async () => kept(new Redis(single.port, host)), masters],
  ["redis, cluster", async () => kept(await newCluster().connect()), nodes],
  ["ioredis, cluster", async () => kept(new Cluster([{ host, port: cluster[0]!.port }])), nodes],
  ["redis, Sentinel", async () => kept(await newSentinel().connect()), () => [sentinel.master]],
  [
    "ioredis, Sentinel",
    async () => kept(new Redis({ sentinels: [{ host, port: sentinel.port }], name })),
    () => [sentinel.master],
  ],
];

const ignore = (): void => {};
const newCluster = () => createCluster({ rootNodes: cluster.map(({ url }) => ({ url })) }).on("error", ignore);
const newSentinel = () =>
  createSentinel({ name, sentinelRootNodes: [{ host, port: sentinel.port }] }).on("error", ignore);

function kept<T extends { disconnect(): unknown } | { destroy(): unknown }>(client: T): T {
  closing.push(() => ("destroy" in client ? client.destroy() : client.disconnect()));
  return client;
}

let prefixes = 0;

for (const [name, connect, servers] of ways) {
  testStore(`Redis by ${name}`, async () => {
    const store = redisStore({ client: await connect(), prefix: `test${prefixes++}:` });
    // Lifetimes are shortened; what goes by meanwhile is less than the grain.
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
