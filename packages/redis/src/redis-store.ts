import { type Clock, systemClock } from "mcparley";
import type { AppendOptions, CompareAndSetOptions, Lifetime, LogEntry, Store } from "mcparley/server";
import { Attempts, textOf } from "./attempts.ts";
import type { Connection, IoredisClient, RedisClient } from "./connection.ts";
import { idOf, positionOf, stampGenerator, withoutStamp } from "./encoding.ts";
import { ioredisConnection } from "./ioredis.ts";
import { nodeRedisConnection } from "./node-redis.ts";
import { append, compareAndSet, runScript } from "./scripts.ts";
import { Subscriptions } from "./subscriptions.ts";

/** Options of `redisStore`. */
export interface RedisStoreOptions {
  /**
   * A connected client of the package `redis` 5 or newer, or of `ioredis` 5 or newer; for one server, Sentinel or Cluster.
   * The caller keeps ownership: the store opens additional connections with `duplicate`, and closes only those.
   */
  client: RedisClient;
  /**
   * Prefix of every key and channel. Default: `mcparley:`. The client's `keyPrefix` is ignored.
   * If the prefix contains a hash tag, the whole store is on one server of a cluster.
   */
  prefix?: string;
  /** Time limit of an operation in milliseconds, including its retries. Default: 2,000. */
  timeout?: number;
  /** Source of time and timers. For tests. Default: the clock of the system. */
  clock?: Clock;
}

/** Maximum lifetime of a key in milliseconds: a hundred years. */
const maxLifetime = 3_155_760_000_000;

/**
 * Makes a store on Redis 6.2 or newer, or on Valkey, for servers on any number of machines.
 *
 * An operation is retried if the connection breaks, or if the Redis server is starting or failing over. A retried write
 * takes effect only once. The operation rejects with the `LocalError` `store_unavailable` after `timeout`, or immediately
 * if Redis refuses the command. Throws a `TypeError` if an option is invalid, or if the client is of another package.
 *
 * @example
 * ```ts
 * import { redisStore } from "@mcparley/redis";
 * import { createServer } from "mcparley/server";
 * import { createClient } from "redis"; // or: import { Redis } from "ioredis"
 *
 * const client = createClient({ url: "redis://127.0.0.1:6379" });
 * client.on("error", console.error);
 * await client.connect();
 *
 * const store = redisStore({ client });
 * const server = createServer({ name: "notes", version: "1.0.0", store });
 * ```
 */
export function redisStore(options: RedisStoreOptions): Store {
  return new RedisStore(options);
}

class RedisStore implements Store {
  readonly #connection: Connection;
  readonly #attempts: Attempts;
  readonly #prefix: string;
  readonly #isSharded: () => Promise<boolean>;
  readonly #nextStamp = stampGenerator();
  readonly #subscriptions: Subscriptions;

  constructor({ client, prefix = "mcparley:", timeout = 2_000, clock = systemClock }: RedisStoreOptions) {
    if (typeof prefix !== "string") throw new TypeError(`redisStore needs a string as prefix; got ${String(prefix)}.`);
    if (!(timeout > 0)) throw new TypeError(`redisStore needs a timeout above 0 ms; got ${String(timeout)}.`);
    this.#prefix = prefix;
    this.#attempts = new Attempts(timeout, clock);
    this.#isSharded = cacheResult(() => hasShards(this.#connection, this.#attempts, this.#channelName("")));
    this.#connection = isIoredis(client)
      ? ioredisConnection(client, this.#isSharded)
      : nodeRedisConnection(client, this.#isSharded);
    this.#subscriptions = new Subscriptions(this.#connection, this.#attempts);
  }

  async get(key: string): Promise<string | undefined> {
    const name = this.#valueName(key);
    const text = await this.#send("get", name, ["GET", name]);
    return typeof text === "string" ? withoutStamp(text) : undefined;
  }

  async set(key: string, value: string, { ttl }: Lifetime): Promise<void> {
    const name = this.#valueName(key);
    await this.#send("set", name, ["SET", name, this.#nextStamp() + value, "PX", lifetime(ttl)]);
  }

  async compareAndSet(
    key: string,
    expected: string | undefined,
    value: string | undefined,
    { ttl, keepTtl = false }: CompareAndSetOptions,
  ): Promise<boolean> {
    const name = this.#valueName(key);
    const args = [this.#nextStamp(), ...optional(expected), ...optional(value), lifetime(ttl), keepTtl ? "1" : "0"];
    const isSet = await this.#attempts.run("compareAndSet", ({ timeLeft }) =>
      runScript((command) => this.#connection.send(name, command, timeLeft), compareAndSet, [name, ...args]),
    );
    return Number(isSet) === 1;
  }

  async delete(key: string): Promise<boolean> {
    const name = this.#valueName(key);
    return Number(await this.#send("delete", name, ["DEL", name])) === 1;
  }

  async append(log: string, value: string, { ttl, maxLength }: AppendOptions): Promise<string> {
    const name = this.#logName(log);
    const args = [this.#nextStamp(), value, String(maxLength), lifetime(ttl)];
    const id = await this.#attempts.run("append", ({ timeLeft, isRetry }) => {
      const send = (command: readonly string[]): Promise<unknown> => this.#connection.send(name, command, timeLeft);
      return runScript(send, append, [name, ...args, isRetry ? "1" : "0"]);
    });
    return positionOf(String(id));
  }

  async readFrom(log: string, position: string | undefined, limit: number): Promise<LogEntry[]> {
    const name = this.#logName(log);
    const id = position === undefined ? "-" : idOf(position);
    if (id === undefined || limit < 1) return [];
    const first = position === undefined ? id : `(${id}`;
    const reply = await this.#send("readFrom", name, ["XRANGE", name, first, "+", "COUNT", String(Math.floor(limit))]);
    // Each entry has one field, which `append` wrote.
    const entries = reply as [id: string, fields: [field: string, value: string]][];
    return entries.map(([id, [, value]]) => ({ position: positionOf(id), value: withoutStamp(value) }));
  }

  async publish(channel: string, message: string): Promise<void> {
    const name = this.#channelName(channel);
    const text = this.#nextStamp() + message;
    await this.#attempts.run("publish", async ({ timeLeft }) =>
      (await this.#isSharded())
        ? this.#connection.send(name, ["SPUBLISH", name, text], timeLeft)
        : this.#connection.send(undefined, ["PUBLISH", name, text], timeLeft),
    );
  }

  subscribe(channel: string, listener: (message: string) => void, missed?: () => void): Promise<() => Promise<void>> {
    return this.#subscriptions.subscribe(this.#channelName(channel), { message: listener, onMissed: missed });
  }

  async close(): Promise<void> {
    this.#attempts.close();
    this.#subscriptions.close();
    await this.#connection.close();
  }

  #send(operation: string, name: string, command: readonly string[]): Promise<unknown> {
    return this.#attempts.run(operation, ({ timeLeft }) => this.#connection.send(name, command, timeLeft));
  }

  // Each name is in a hash tag, so that a value, a log and a channel of the same name are in the same slot of a cluster.
  #valueName(key: string): string {
    return `${this.#prefix}value:{${key}}`;
  }

  #logName(log: string): string {
    return `${this.#prefix}log:{${log}}`;
  }

  #channelName(channel: string): string {
    return `${this.#prefix}channel:{${channel}}`;
  }
}

/** Returns whether a client is of `ioredis`. Throws a `TypeError` if it is of neither package. */
function isIoredis(client: RedisClient): client is IoredisClient {
  // Programs in JavaScript can pass any value.
  const { call, sendCommand, duplicate, subscribe, isOpen } = ((client as unknown) ?? {}) as Record<string, unknown>;
  const canBeCopied = typeof duplicate === "function" && typeof subscribe === "function";
  if (canBeCopied && typeof call === "function") return true;
  if (canBeCopied && typeof sendCommand === "function" && typeof isOpen === "boolean") return false;
  throw new TypeError(
    "redisStore needs a client of the package redis (createClient, createSentinel, createCluster) or of ioredis " +
      `(Redis, Redis.Cluster); got ${client === null ? "null" : typeof client}. A pool of clients cannot subscribe: pass one client.`,
  );
}

/**
 * Returns whether the servers support sharded Pub/Sub: a cluster of Redis 7 or newer. A sharded message is sent only within
 * the shard of its channel, and not to every node of the cluster.
 */
async function hasShards(connection: Connection, attempts: Attempts, channel: string): Promise<boolean> {
  if (!connection.isCluster) return false;
  return attempts.run("publish", ({ timeLeft }) =>
    connection.send(channel, ["SPUBLISH", channel, ""], timeLeft).then(
      () => true,
      (error: unknown) => {
        if (/^ERR unknown command/i.test(textOf(error))) return false;
        throw error;
      },
    ),
  );
}

/** Caches the result of a function. A rejected result is not cached. */
function cacheResult<T>(find: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => {
    result ??= find().catch((error: unknown) => {
      result = undefined;
      throw error;
    });
    return result;
  };
}

function optional(value: string | undefined): [isPresent: "0" | "1", value: string] {
  return value === undefined ? ["0", ""] : ["1", value];
}

/** Converts a lifetime for Redis, which requires a positive integer of milliseconds. */
function lifetime(ttl: number): string {
  return String(Math.min(maxLifetime, Math.max(1, Math.ceil(ttl))));
}
