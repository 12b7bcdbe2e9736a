import type { CacheHint } from "../mcp/resources.ts";

/** Checks for how long, and by whom, something may be kept. Throws `TypeError`. */
export function checkCacheHint({ ttlMs, cacheScope }: Partial<CacheHint>): void {
  if (ttlMs !== undefined && !(Number.isSafeInteger(ttlMs) && ttlMs >= 0)) {
    throw new TypeError(`ttlMs must be a whole number of milliseconds, 0 or more; got ${String(ttlMs)}`);
  }
  if (cacheScope !== undefined && cacheScope !== "public" && cacheScope !== "private") {
    throw new TypeError(`cacheScope must be "public" or "private"; got ${String(cacheScope)}`);
  }
}
