import { redisStore } from "@mcparley/redis";
import { LocalError } from "mcparley";
import type { Store } from "mcparley/server";
import { Cluster, Redis } from "ioredis";
import { createClient, createCluster } from "redis";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Proxy } from "../servers/proxy.mjs";
import { type RedisServer, startCluster, startRedis, startSentinel, untilTrue } from "../servers/redis.mjs";

type Client = Parameters<typeof redisStore>[0]["client"];

const host = "127.0.0.1";
const ttl = 600_000;
const log = { ttl, maxLength: 1_000 };
const ignore = (): void => {};
let prefixes = 0;
let closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.toReversed()) await close();
  closing = [];
});

function stored(client: Client & ({ disconnect(): unknown } | { destroy(): unknown }), timeout = 2_000): Store {
  const store = redisStore({ client, prefix: `failures${prefixes++}:`, timeout });
  closing.push(() => ("destroy" in client ? client.destroy() : client.disconnect()));
  closing.push(() => store.close());
  return store;
}

/** The end of an operation: its value, or the code of its error. */
const outcome = (done: Promise<unknown>): Promise<unknown> =>
  done.catch((error: unknown) => (error instanceof LocalError ? error.code : error));

/** Publishes until a subscriber has received a message. */
async function untilReceived(store: Store, channel: string, received: string[]): Promise<void> {
  await untilTrue(async () => {
    const before = received.length;
    await outcome(store.publish(channel, "again"));
    await new Promise((resolve) => setTimeout(resolve, 20));
    return received.length > before;
  });
}

const clients: [
  name: string,
  connect: (port: number) => Promise<Client & { destroy(): unknown }> | (Client & { disconnect(): unknown }),
][] = [
  [
    "redis",
    (port) =>
      createClient({ url: `redis://${host}:${port}` })
        .on("error", ignore)
        .connect(),
  ],
  ["ioredis", (port) => new Redis(port, host).on("error", ignore)],
];

describe.each(clients)("one server, by %s", (_name, connect) => {
  let server: RedisServer;
  let proxy: Proxy;
  let store: Store;

  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.end());
  beforeEach(async () => {
    const between = await new Proxy(server.port).start();
    proxy = between;
    closing.push(() => between.close());
    store = stored(await connect(proxy.port));
  });

  test("a write whose reply was lost is sent again, and takes effect once", async () => {
    // The server knows the scripts from here on, so that the reply that is lost is that of the write.
    await store.append("other", "", log);
    await store.compareAndSet("other", undefined, "", { ttl });
    const losing = async <T>(act: () => Promise<T>): Promise<T> => {
      proxy.loseReply();
      const result = await act();
      expect(proxy.hasLost).toBe(true);
      return result;
    };
    const position = await losing(() => store.append("log", "a", log));
    expect((await store.readFrom("log", undefined, 10)).map((entry) => entry.position)).toEqual([position]);
    expect(await losing(() => store.compareAndSet("k", undefined, "mine", { ttl }))).toBe(true);
    expect(await losing(() => store.compareAndSet("k", "other", "never", { ttl }))).toBe(false);
    expect(await losing(() => store.get("k"))).toBe("mine");
    const received: string[] = [];
    await store.subscribe("c", (message) => received.push(message));
    // One of two connections loses its next message: the message to the subscriber, or the reply to the publisher.
    await losing(() => store.publish("c", "once"));
    await untilReceived(store, "c", received);
    expect(received.filter((message) => message === "once").length).toBeLessThanOrEqual(1);
  });

  test("reconnects after a lost connection, reports possibly lost messages to subscribers, and delivers the next", async () => {
    const received: string[] = [];
    let missed = 0;
    await store.subscribe(
      "c",
      (message) => received.push(message),
      () => missed++,
    );
    await store.publish("c", "first");
    await untilTrue(async () => received.includes("first"));
    expect(missed).toBe(0);
    proxy.cut();
    expect(await store.get("none")).toBeUndefined();
    await untilTrue(async () => missed > 0);
    await store.publish("c", "second");
    await untilTrue(async () => received.includes("second"));
  });

  test("operations fail in time if the server is unavailable, and have no effect later", async () => {
    await store.set("k", "kept", { ttl });
    proxy.shut();
    const started = performance.now();
    const outcomes = await Promise.all(
      [
        store.get("k"),
        store.set("k", "late", { ttl }),
        store.compareAndSet("k", "kept", "late", { ttl }),
        store.delete("k"),
        store.append("log", "late", log),
        store.readFrom("log", undefined, 1),
        store.publish("c", "late"),
        store.subscribe("c", ignore),
      ].map(outcome),
    );
    expect(outcomes).toEqual(outcomes.map(() => "store_unavailable"));
    expect(performance.now() - started).toBeLessThan(3_000);
    await proxy.open();
    await untilTrue(async () => (await outcome(store.get("k"))) !== "store_unavailable");
    expect(await store.get("k")).toBe("kept");
    expect(await store.readFrom("log", undefined, 10)).toEqual([]);
  });

  test("operations fail in time if the server hangs", async () => {
    await store.set("k", "v", { ttl });
    server.signal("SIGSTOP");
    const started = performance.now();
    expect(await outcome(store.get("k"))).toBe("store_unavailable");
    expect(performance.now() - started).toBeLessThan(3_000);
    server.signal("SIGCONT");
    await untilTrue(async () => (await outcome(store.get("k"))) === "v");
  });

  test("acknowledged writes and subscriptions survive the kill and restart of a server", async () => {
    const received: string[] = [];
    await store.subscribe("c", (message) => received.push(message));
    const positions = new Map<string, string>();
    const over = new AbortController();
    const writing = (async () => {
      for (let n = 0; !over.signal.aborted; n++) {
        const position = await outcome(store.append("log", String(n), log));
        if (position !== "store_unavailable") positions.set(String(n), String(position));
      }
    })();
    await untilTrue(async () => positions.size > 20);
    await server.kill();
    await server.start();
    const before = positions.size;
    await untilTrue(async () => positions.size > before + 20);
    over.abort();
    await writing;
    const entries = await store.readFrom("log", undefined, 10_000);
    const kept = new Map(entries.map(({ value, position }) => [value, position]));
    for (const [value, position] of positions) expect(kept.get(value)).toBe(position);
    expect(new Set(entries.map(({ value }) => value)).size).toBe(entries.length);
    await untilReceived(store, "c", received);
  });

  test("a refusal fails at once with an error that has the cure, and no key or value", async () => {
    const admin = await createClient({ url: server.url }).connect();
    closing.push(() => admin.destroy());
    await admin.configSet("maxmemory", "1");
    const error: unknown = await store.set("session-id-4711", "secret", { ttl }).catch((thrown: unknown) => thrown);
    await admin.configSet("maxmemory", "0");
    expect(error).toMatchObject({ code: "store_unavailable", message: expect.stringContaining("maxmemory") as string });
    expect(JSON.stringify([String(error), error])).not.toMatch(/4711|secret/);
  });

  test("a closed store rejects operations, and leaves the client open", async () => {
    const client = await connect(proxy.port);
    const closed = stored(client);
    await closed.subscribe("c", ignore);
    await closed.close();
    expect(await outcome(closed.get("k"))).toBe("closed");
    expect(await outcome(redisStore({ client }).get("k"))).toBeUndefined();
  });
});

describe.each([
  [
    "redis",
    (port: number) =>
      createCluster({ rootNodes: [{ url: `redis://${host}:${port}` }] })
        .on("error", ignore)
        .connect(),
  ],
  ["ioredis", (port: number) => new Cluster([{ host, port }]).on("error", ignore)],
] as const)("a cluster, by %s", (_name, connect) => {
  let servers: RedisServer[];

  beforeAll(async () => {
    servers = await startCluster();
  });
  afterAll(() => Promise.all(servers.map((server) => server.end())));

  test("reconnects to servers that restart one after the other, and renews every subscription", async () => {
    const store = stored(await connect(servers[0]!.port));
    const names = Array.from({ length: 12 }, (_, index) => `name-${index}`);
    const received = new Map<string, string[]>(names.map((name) => [name, []]));
    for (const name of names) {
      await store.set(name, name, { ttl });
      await store.subscribe(name, (message) => received.get(name)!.push(message));
    }
    for (const server of servers) {
      await server.restart();
      for (const name of names) await untilTrue(async () => (await outcome(store.get(name))) === name);
      for (const name of names) await untilReceived(store, name, received.get(name)!);
    }
  });
});

test.each(["redis", "ioredis"])("with Sentinel, by %s: a replica replaces a killed server", async (kind) => {
  const sentinel = await startSentinel();
  closing.push(() => sentinel.end());
  const { createSentinel } = await import("redis");
  const where = [{ host, port: sentinel.port }];
  const client =
    kind === "redis"
      ? await createSentinel({ name: "main", sentinelRootNodes: where }).on("error", ignore).connect()
      : new Redis({ name: "main", sentinels: where }).on("error", ignore);
  const store = stored(client);
  const received: string[] = [];
  await store.subscribe("c", (message) => received.push(message));
  await store.set("k", "v", { ttl });
  await sentinel.untilCopied();
  await sentinel.master.kill();
  await untilTrue(async () => (await outcome(store.set("new", "v", { ttl }))) === undefined);
  expect(await store.get("k")).toBe("v");
  await untilReceived(store, "c", received);
});
