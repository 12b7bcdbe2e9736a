import { type Clock, systemClock } from "../jsonrpc/clock.ts";
import { ErrorCode, ProtocolError } from "../jsonrpc/errors.ts";
import { Method } from "../protocol/methods.ts";
import { principalKey } from "./context.ts";
import type { Middleware, MiddlewareCall } from "./middleware.ts";

export interface RateLimitOptions {
  /** Calls a second that may go on for ever. 20 unless given. */
  perSecond?: number;
  /** Calls that may come at once after a quiet time. 100 unless given. */
  burst?: number;
  /** The methods that are limited: `tools/call` and `completion/complete` unless given. */
  methods?: readonly string[];
  /** Whom a call counts for: the principal unless given, and all callers without one together. */
  key?: (call: MiddlewareCall) => string;
  clock?: Clock;
}

interface Bucket {
  tokens: number;
  at: number;
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
  const { perSecond = 20, burst = 100, clock = systemClock } = options;
  const limited = new Set<string>(options.methods ?? [Method.callTool, Method.complete]);
  const keyOf = options.key ?? ((call) => principalKey(call.principal));
  const buckets = new Map<string, Bucket>();

  function take(key: string): number {
    const now = clock.now();
    const bucket = buckets.get(key) ?? { tokens: burst, at: now };
    bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.at) / 1000) * perSecond);
    bucket.at = now;
    buckets.delete(key);
    buckets.set(key, bucket);
    if (buckets.size > maxBuckets) buckets.delete(buckets.keys().next().value!);
    if (bucket.tokens < 1) return (1 - bucket.tokens) / perSecond;
    bucket.tokens -= 1;
    return 0;
  }

  return async (call, next) => {
    if (!limited.has(call.method)) return next();
    const wait = take(keyOf(call));
    if (wait === 0) return next();
    const retryAfter = Math.ceil(wait);
    const message = `Too many calls. Try again in ${retryAfter} s.`;
    throw new ProtocolError(ErrorCode.InvalidRequest, message, { data: { retryAfter }, status: 429 });
  };
}
