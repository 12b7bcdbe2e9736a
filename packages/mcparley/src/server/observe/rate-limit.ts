import { type Clock, systemClock } from "../../rpc/clock.ts";
import { ProtocolError } from "../../rpc/errors.ts";
import { ErrorCode } from "../../mcp/errors.ts";
import { Method } from "../../mcp/methods.ts";
import { refuseStore } from "../../store/server-store.ts";
import type { Store } from "../../store/store.ts";
import { callerKey } from "../caller.ts";
import { storeOf } from "../store-of.ts";
import type { Call } from "../dispatch/call.ts";
import type { Middleware, MiddlewareCall } from "../dispatch/middleware.ts";
import { type Bucket, takeFrom, takeShared } from "./token-bucket.ts";

/** Options of `rateLimit`. */
export interface RateLimitOptions {
  /** Calls a second that may go on for ever. 20 unless given. */
  perSecond?: number;
  /** Calls that may come at once after a quiet time. 100 unless given. */
  burst?: number;
  /** The methods that are limited: `tools/call` and `completion/complete` unless given. */
  methods?: readonly string[];
  /** Key of the caller that a call counts for. Default: its principal, or the network of its address if it is anonymous. */
  key?: (call: MiddlewareCall) => string;
  clock?: Clock;
}

/** The most callers that are told apart; beyond that the one that was quiet the longest is forgotten. */
const maxBuckets = 10_000;

/**
 * Makes middleware that limits how often a caller may call (server/tools, Security Considerations).
 *
 * If the server has a store, the calls of all its processes count together, with two operations of the store for each limited
 * call. While the store is unavailable, and without one, each process counts by itself.
 *
 * A call over the limit is answered with an error that says after how many seconds to try again; over HTTP its status
 * is 429.
 */
export function rateLimit(options: RateLimitOptions = {}): Middleware {
  refuseStore(options, "rateLimit");
  const { perSecond = 20, burst = 100, clock = systemClock } = options;
  const limited = new Set<string>(options.methods ?? [Method.callTool, Method.complete]);
  const keyOf = options.key ?? ((call) => callerKey(call.principal, call.peer.address));
  const buckets = new Map<string, Bucket>();
  // A server may have several limits, and each has its own buckets.
  const limit = JSON.stringify([perSecond, burst, ...limited]);

  function takeHere(key: string): number {
    const now = clock.now();
    const bucket = buckets.get(key) ?? { tokens: burst, at: now };
    buckets.delete(key);
    buckets.set(key, bucket);
    if (buckets.size > maxBuckets) buckets.delete(buckets.keys().next().value!);
    return takeFrom(bucket, now, { perSecond, burst });
  }

  async function take(key: string, store: Store | undefined): Promise<number> {
    if (!store) return takeHere(key);
    try {
      return await takeShared(store, `rate:${limit}:${key}`, { now: clock.now(), perSecond, burst });
    } catch {
      return takeHere(key);
    }
  }

  return async (call, next) => {
    if (!limited.has(call.method)) return next();
    // Every call that reaches middleware is a `Call`; middleware sees less of it.
    const wait = await take(keyOf(call), storeOf((call as Call).core));
    if (wait === 0) return next();
    const retryAfter = Math.ceil(wait);
    const message = `Too many calls. Try again in ${retryAfter} s.`;
    throw new ProtocolError(ErrorCode.InvalidRequest, message, { data: { retryAfter }, status: 429 });
  };
}
