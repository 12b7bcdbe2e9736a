/** What is needed of a client of the package `redis`: of `createClient`, `createSentinel` or `createCluster`. */
export interface NodeRedisClient {
  readonly isOpen: boolean;
  sendCommand(...args: never[]): Promise<unknown>;
  duplicate(): unknown;
}

/** What is needed of a client of the package `ioredis`: a `Redis`, with Sentinel or without, or a `Redis.Cluster`. */
export interface IoredisClient {
  readonly status: string;
  call(...args: never[]): Promise<unknown>;
  duplicate(): unknown;
}

/** A client that is known by its shape, so that neither package is needed by those who use the other. */
export type RedisClient = NodeRedisClient | IoredisClient;

/** Whether a client is of `ioredis`. Throws a `TypeError` for what is a client of neither package. */
export function isIoredis(client: RedisClient): client is IoredisClient {
  const { call, sendCommand, duplicate, subscribe, isOpen } = ((client as unknown) ?? {}) as Record<string, unknown>;
  const canBeCopied = typeof duplicate === "function" && typeof subscribe === "function";
  if (canBeCopied && typeof call === "function") return true;
  if (canBeCopied && typeof sendCommand === "function" && typeof isOpen === "boolean") return false;
  throw new TypeError(
    "redisStore needs a client of the package redis (createClient, createSentinel, createCluster) or of ioredis " +
      `(Redis, Redis.Cluster); got ${client === null ? "null" : typeof client}. A pool of clients cannot subscribe: give one client.`,
  );
}
