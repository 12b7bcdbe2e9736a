import { type Clock, systemClock } from "../../rpc/clock.ts";
import { ProtocolError } from "../../rpc/errors.ts";
import { ErrorCode } from "../../mcp/errors.ts";
import { Method } from "../../mcp/methods.ts";
import { refuseStore } from "../../store/server-store.ts";
import type { Store } from "../../store/store.ts";
import { checkNames } from "../checks/known-members.ts";
import { storeOf } from "../core/store-of.ts";
import type { Call } from "../core/call.ts";
import { callerKey } from "../core/context.ts";
import type { Middleware, MiddlewareCall } from "../dispatch/middleware.ts";

/** Options of `rateLimit`. */
export interface RateLimitOptions {
  /** Calls per second in the long run. Default: 20. */
  perSecond?: number;
  /** Calls that are accepted at once after an idle time. Default: 100. */
  burst?: number;
  /** The methods that are limited. Default: `tools/call`, `completion/complete`, and the operations on tasks: `tasks/get` and others. */
  methods?: readonly string[];
  /** Key of the caller that a call counts for. Default: its principal, or the network of its address if it is anonymous. */
  key?: (call: MiddlewareCall) => string;
  /** Source of time and timers. For tests. Default: the clock of the system. */
  clock?: Clock;
}

/** The operations on tasks, of the extension and of 2025-11-25. They are limited because each of them uses the store, and clients poll. */
const ofTasks = ["tasks/get", "tasks/update", "tasks/cancel", "tasks/result", "tasks/list"];

/** Maximum number of callers that are counted in memory. Then the one that was idle longest is dropped. */
const maxBuckets = 10_000;

/**
 * Makes middleware that limits how often a caller may call (server/tools, Security Considerations).
 *
 * If the server has a store, the calls of all its processes count together, with two operations of the store for each limited
 * call. While the store is unavailable, and without one, each process counts by itself.
 *
 * A call over the limit gets an error with the seconds to wait. Over HTTP its status is 429.
 *
 * @example
 * ```ts
 * import { createServer, rateLimit } from "mcparley/server";
 *
 * const server = createServer({ name: "search", version: "1.0.0" });
 * server.use(rateLimit({ perSecond: 5, burst: 20 }));
 * ```
 */
export function rateLimit(options: RateLimitOptions = {}): Middleware {
  refuseStore(options, "rateLimit");
  checkNames("perSecond:number burst:number methods key:function clock", options, "rateLimit");
  const { perSecond = 20, burst = 100, clock = systemClock } = options;
  const limitedMethods = new Set<string>(options.methods ?? [Method.callTool, Method.complete, ...ofTasks]);
  const keyOf = options.key ?? ((call) => callerKey(call.principal, call.peer.address));
  const buckets = new Map<string, Bucket>();
  // A server may have several limits, and each has its own buckets.
  const limit = JSON.stringify([perSecond, burst, ...limitedMethods]);

  function takeHere(key: string): number {
    const now = clock.now();
    const bucket = buckets.get(key) ?? { tokens: burst, at: now };
    buckets.delete(key);
    buckets.set(key, bucket);
    if (buckets.size > maxBuckets) buckets.delete(buckets.keys().next().value!);
    return takeFrom(bucket, now, { perSecond, burst });
  }

  return async (call, next) => {
    if (!limitedMethods.has(call.method)) return next();
    // Every call that reaches middleware is a `Call`; middleware sees less of it.
    const store = storeOf((call as Call).core);
    const key = keyOf(call);
    const wait = store
      ? await takeShared(store, `rate:${limit}:${key}`, { now: clock.now(), perSecond, burst }).catch(() =>
          takeHere(key),
        )
      : takeHere(key);
    if (wait === 0) return next();
    const retryAfter = Math.ceil(wait);
    const message = `Too many calls. Try again in ${retryAfter} s.`;
    throw new ProtocolError(ErrorCode.InvalidRequest, message, { data: { retryAfter }, status: 429 });
  };
}

/** The calls that a caller may make now. It fills up with time. */
interface Bucket {
  tokens: number;
  /** Time of the last count, in milliseconds since the epoch. */
  at: number;
}

interface BucketSize {
  /** Calls by which the bucket fills up in a second. */
  perSecond: number;
  /** Calls in a full bucket. */
  burst: number;
}

/** Number of tries to change a bucket in the store. A caller that makes others fail so often is over its limit. */
const maxTries = 20;

/** Takes one call from a bucket. Returns 0, or the seconds to wait if the bucket is empty. */
function takeFrom(bucket: Bucket, now: number, { perSecond, burst }: BucketSize): number {
  // The clock of another machine may be behind.
  const elapsedMs = Math.max(0, now - bucket.at);
  bucket.tokens = Math.min(burst, bucket.tokens + (elapsedMs / 1000) * perSecond);
  bucket.at = Math.max(now, bucket.at);
  if (bucket.tokens < 1) return (1 - bucket.tokens) / perSecond;
  bucket.tokens -= 1;
  return 0;
}

/** Takes one call from a bucket in a store, which several processes share. */
async function takeShared(store: Store, key: string, when: BucketSize & { now: number }): Promise<number> {
  const { now, ...size } = when;
  const ttl = Math.ceil((size.burst / size.perSecond) * 1000) + 60_000;
  for (let tries = 0; tries < maxTries; tries++) {
    const text = await store.get(key);
    const bucket: Bucket = text === undefined ? { tokens: size.burst, at: now } : JSON.parse(text);
    const wait = takeFrom(bucket, now, size);
    if (wait > 0) return wait;
    if (await store.compareAndSet(key, text, JSON.stringify(bucket), { ttl })) return 0;
  }
  return 1 / size.perSecond;
}
