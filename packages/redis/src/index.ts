/** A store on Redis or Valkey, for servers that run in several processes. */
export { redisStore, type RedisStoreOptions } from "./redis-store.ts";
export type { IoredisClient, NodeRedisClient, RedisClient } from "./connection.ts";
