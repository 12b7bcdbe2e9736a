/** The members used of a client of the package `redis`, from `createClient`, `createSentinel` or `createCluster`. */
export interface NodeRedisClient {
  readonly isOpen: boolean;
  sendCommand(...args: never[]): Promise<unknown>;
  duplicate(): unknown;
}

/** The members used of a client of the package `ioredis`: a `Redis`, with or without Sentinel, or a `Redis.Cluster`. */
export interface IoredisClient {
  readonly status: string;
  call(...args: never[]): Promise<unknown>;
  duplicate(): unknown;
}

/** A client of either package. The types are structural, so that neither package has to be installed. */
export type RedisClient = NodeRedisClient | IoredisClient;

/** Returns whether a client is of `ioredis`. Throws a `TypeError` if it is of neither package. */
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
