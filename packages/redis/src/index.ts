export { redisStore, type RedisStoreOptions } from "./redis-store.ts";
export type { IoredisClient, NodeRedisClient, RedisClient } from "./connection.ts";
