import { type Clock, systemClock } from "../../rpc/clock.ts";
import { ProtocolError } from "../../rpc/errors.ts";
import { ErrorCode } from "../../mcp/errors.ts";
import { Method } from "../../mcp/methods.ts";
import type { Store } from "../../store/store.ts";
import { callerKey } from "../caller.ts";
import type { Middleware, MiddlewareCall } from "../dispatch/middleware.ts";
import { type Bucket, takeFrom, takeShared } from "./shared-bucket.ts";

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
  /**
   * Counts the calls of all processes that share the store together; each limited call asks it twice. Where it is out of
   * reach, each process counts by itself until it is back. Without one, each process counts by itself.
   */
  store?: Store;
  clock?: Clock;
}

/** The most callers that are told apart; beyond that the one that was quiet the longest is forgotten. */
const maxBuckets = 10_000;

/**
 * Makes middleware that limits how often a caller may call (server/tools, Security Considerations).
 *
 * A call over the limit is answered with an error that says after how many seconds to try again; over HTTP its status
 * is 429.
 */
export function rateLimit(options: RateLimitOptions = {}): Middleware {
  const { perSecond = 20, burst = 100, store, clock = systemClock } = options;
  const limited = new Set<string>(options.methods ?? [Method.callTool, Method.complete]);
  const keyOf = options.key ?? ((call) => callerKey(call.principal, call.peer.address));
  const buckets = new Map<string, Bucket>();

  function takeHere(key: string): number {
    const now = clock.now();
    const bucket = buckets.get(key) ?? { tokens: burst, at: now };
    buckets.delete(key);
    buckets.set(key, bucket);
    if (buckets.size > maxBuckets) buckets.delete(buckets.keys().next().value!);
    return takeFrom(bucket, now, { perSecond, burst });
  }

  async function take(key: string): Promise<number> {
    if (!store) return takeHere(key);
    try {
      return await takeShared(store, key, clock.now(), { perSecond, burst });
    } catch {
      return takeHere(key);
    }
  }

  return async (call, next) => {
    if (!limited.has(call.method)) return next();
    const wait = await take(keyOf(call));
    if (wait === 0) return next();
    const retryAfter = Math.ceil(wait);
    const message = `Too many calls. Try again in ${retryAfter} s.`;
    throw new ProtocolError(ErrorCode.InvalidRequest, message, { data: { retryAfter }, status: 429 });
  };
}
