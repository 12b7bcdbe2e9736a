import { type Clock, systemClock } from "mcparley";
import type { CompareAndSetOptions, LogEntry, Store } from "mcparley/server";
import { Attempts } from "./attempts.ts";
import { type RedisClient, isIoredis } from "./client.ts";
import type { Connection } from "./connection.ts";
import { isUnknownCommand } from "./errors.ts";
import { ioredisConnection } from "./ioredis.ts";
import { Names, idOf, positionOf } from "./names.ts";
import { nodeRedisConnection } from "./node-redis.ts";
import { append, compareAndSet, runScript } from "./scripts.ts";
import { Stamps, unstamped } from "./stamps.ts";
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
  clock?: Clock;
}

/** Maximum lifetime of a key in milliseconds: a hundred years. */
const longestLife = 3_155_760_000_000;

/**
 * Creates a store on Redis 6.2 or newer, or on Valkey, for servers on any number of machines.
 *
 * An operation is retried if the connection breaks, or if the Redis server is starting or failing over. A retried write
 * takes effect only once. The operation rejects with the `LocalError` `store_unavailable` after `timeout`, or immediately
 * if Redis refuses the command. Throws a `TypeError` for any other kind of client.
 */
export function redisStore(options: RedisStoreOptions): Store {
  const { client, prefix = "mcparley:", timeout = 2_000, clock = systemClock } = options;
  if (typeof prefix !== "string") throw new TypeError(`redisStore needs a string as prefix; got ${String(prefix)}.`);
  if (!(timeout > 0)) throw new TypeError(`redisStore needs a timeout above 0 ms; got ${String(timeout)}.`);
  const attempts = new Attempts(timeout, clock);
  const isSharded: () => Promise<boolean> = memoized(() => hasShards(connection, attempts, prefix));
  const connection: Connection = isIoredis(client)
    ? ioredisConnection(client, isSharded)
    : nodeRedisConnection(client, isSharded);
  return new RedisStore({ connection, attempts, names: new Names(prefix), isSharded });
}

interface RedisStoreParts {
  connection: Connection;
  attempts: Attempts;
  names: Names;
  isSharded: () => Promise<boolean>;
}

class RedisStore implements Store {
  readonly #connection: Connection;
  readonly #attempts: Attempts;
  readonly #names: Names;
  readonly #isSharded: () => Promise<boolean>;
  readonly #stamps = new Stamps();
  readonly #subscriptions: Subscriptions;

  constructor({ connection, attempts, names, isSharded }: RedisStoreParts) {
    this.#connection = connection;
    this.#attempts = attempts;
    this.#names = names;
    this.#isSharded = isSharded;
    this.#subscriptions = new Subscriptions(connection, attempts);
  }

  async get(key: string): Promise<string | undefined> {
    const name = this.#names.value(key);
    const kept = await this.#attempts.run("get", ({ within }) => this.#connection.send(name, ["GET", name], within));
    return typeof kept === "string" ? unstamped(kept) : undefined;
  }

  async set(key: string, value: string, { ttl }: { ttl: number }): Promise<void> {
    const name = this.#names.value(key);
    const command = ["SET", name, this.#stamps.next() + value, "PX", lifetime(ttl)];
    await this.#attempts.run("set", ({ within }) => this.#connection.send(name, command, within));
  }

  async compareAndSet(
    key: string,
    expected: string | undefined,
    value: string | undefined,
    { ttl, keepTtl = false }: CompareAndSetOptions,
  ): Promise<boolean> {
    const name = this.#names.value(key);
    const args = [this.#stamps.next(), ...optional(expected), ...optional(value), lifetime(ttl), keepTtl ? "1" : "0"];
    const done = await this.#attempts.run("compareAndSet", ({ within }) =>
      runScript((command) => this.#connection.send(name, command, within), compareAndSet, [name, ...args]),
    );
    return Number(done) === 1;
  }

  async delete(key: string): Promise<boolean> {
    const name = this.#names.value(key);
    const gone = await this.#attempts.run("delete", ({ within }) => this.#connection.send(name, ["DEL", name], within));
    return Number(gone) === 1;
  }

  async append(log: string, value: string, { ttl, maxLength }: { ttl: number; maxLength: number }): Promise<string> {
    const name = this.#names.log(log);
    const args = [this.#stamps.next(), value, String(maxLength), lifetime(ttl)];
    const id = await this.#attempts.run("append", ({ within, again }) => {
      const send = (command: readonly string[]): Promise<unknown> => this.#connection.send(name, command, within);
      return runScript(send, append, [name, ...args, again ? "1" : "0"]);
    });
    return positionOf(String(id));
  }

  async readFrom(log: string, after: string | undefined, limit: number): Promise<LogEntry[]> {
    const name = this.#names.log(log);
    const from = after === undefined ? "-" : idOf(after);
    if (from === undefined || limit < 1) return [];
    const command = ["XRANGE", name, after === undefined ? from : `(${from}`, "+", "COUNT", String(Math.floor(limit))];
    const entries = await this.#attempts.run("readFrom", ({ within }) => this.#connection.send(name, command, within));
    return (entries as [id: string, fields: [field: string, value: string]][]).map(([id, [, value]]) => ({
      position: positionOf(id),
      value: unstamped(value),
    }));
  }

  async publish(channel: string, message: string): Promise<void> {
    const name = this.#names.channel(channel);
    const text = this.#stamps.next() + message;
    await this.#attempts.run("publish", async ({ within }) => {
      const isSharded = await this.#isSharded();
      return this.#connection.send(
        isSharded ? name : undefined,
        [isSharded ? "SPUBLISH" : "PUBLISH", name, text],
        within,
      );
    });
  }

  subscribe(channel: string, listener: (message: string) => void, missed?: () => void): Promise<() => Promise<void>> {
    return this.#subscriptions.subscribe(this.#names.channel(channel), { message: listener, missed });
  }

  async close(): Promise<void> {
    this.#attempts.close();
    this.#subscriptions.close();
    await this.#connection.close();
  }
}

/**
 * Returns whether the servers support sharded Pub/Sub: a cluster of Redis 7 or newer. A sharded message is sent only within
 * the shard of its channel, and not to every node of the cluster.
 */
async function hasShards(connection: Connection, attempts: Attempts, prefix: string): Promise<boolean> {
  if (!connection.isCluster) return false;
  const channel = `${prefix}channel:{}`;
  return attempts.run("publish", ({ within }) =>
    connection.send(channel, ["SPUBLISH", channel, ""], within).then(
      () => true,
      (error: unknown) => {
        if (isUnknownCommand(error)) return false;
        throw error;
      },
    ),
  );
}

/** Caches the result of a function. A rejected result is not cached. */
function memoized<T>(find: () => Promise<T>): () => Promise<T> {
  let found: Promise<T> | undefined;
  return () => {
    found ??= find().catch((error: unknown) => {
      found = undefined;
      throw error;
    });
    return found;
  };
}

function optional(value: string | undefined): [isGiven: "0" | "1", value: string] {
  return value === undefined ? ["0", ""] : ["1", value];
}

/** Converts a lifetime for Redis, which requires a positive integer of milliseconds. */
function lifetime(ttl: number): string {
  return String(Math.min(longestLife, Math.max(1, Math.ceil(ttl))));
}
