/** Limits the number of requests that tokens of any caller can cause to an authorization server. */
import type { Clock } from "../../rpc/clock.ts";

/** A response, and the time until which it may be used again. */
export interface CachedResponse<T> {
  value: T;
  /** Milliseconds since 1970. */
  expiresAt: number;
}

/** Returns the cached value of a key, or the value of `request`. */
type ResponseCache<T> = (key: string, request: () => Promise<CachedResponse<T>>) => Promise<T>;

/**
 * Makes a cache of responses. Concurrent calls with the same key share one request. A rejection is not cached. If there
 * are more than `max` entries, the least recently used one is removed.
 */
export function responseCache<T>({ max, clock }: { max: number; clock: Clock }): ResponseCache<T> {
  const entries = new Map<string, CachedResponse<T>>();
  const pending = new Map<string, Promise<CachedResponse<T>>>();

  /** Moves an entry to the end of the map, which is removed last. */
  function store(key: string, response: CachedResponse<T>): void {
    entries.delete(key);
    if (clock.now() >= response.expiresAt) return;
    entries.set(key, response);
    const [oldest] = entries.keys();
    if (entries.size > max && oldest !== undefined) entries.delete(oldest);
  }

  return async (key, request) => {
    const entry = entries.get(key);
    if (entry && clock.now() < entry.expiresAt) {
      store(key, entry);
      return entry.value;
    }
    let running = pending.get(key);
    if (!running) {
      running = request().finally(() => pending.delete(key));
      pending.set(key, running);
      store(key, await running);
    }
    return (await running).value;
  };
}

/**
 * Wraps a request, so that concurrent calls share it. After a failure it rejects with the same error for `pause`
 * milliseconds, because a server that is down should not receive a request for each token.
 */
export function withCooldown<T>(
  work: () => Promise<T>,
  { pause, clock }: { pause: number; clock: Clock },
): () => Promise<T> {
  let running: Promise<T> | undefined;
  let failure: { error: unknown; pauseEnd: number } | undefined;

  async function start(): Promise<T> {
    try {
      const value = await work();
      failure = undefined;
      return value;
    } catch (error) {
      failure = { error, pauseEnd: clock.now() + pause };
      throw error;
    } finally {
      running = undefined;
    }
  }

  return () => {
    if (failure && clock.now() < failure.pauseEnd) return Promise.reject(failure.error);
    return (running ??= start());
  };
}

/** Limits of `requestGate`. */
interface GateLimits {
  /** Maximum number of requests at the same time. Further ones wait. */
  readonly running: number;
  /** Maximum number of waiting requests. Further ones are rejected. */
  readonly waiting: number;
}

/** Runs a request at once, or after others have ended. */
type RequestGate = <T>(request: () => Promise<T>) => Promise<T>;

/**
 * Limits the number of concurrent requests to an authorization server, because any caller can send any number of tokens.
 * Requests wait in their order. If too many wait, it rejects with the error of `full`.
 */
export function requestGate({ running, waiting }: GateLimits, full: () => Error): RequestGate {
  const queue: (() => void)[] = [];
  let active = 0;
  return async (request) => {
    if (active < running) active++;
    else if (queue.length >= waiting) throw full();
    else await new Promise<void>((resolve) => queue.push(resolve));
    try {
      return await request();
    } finally {
      // The next request takes the place of this one.
      const next = queue.shift();
      if (next) next();
      else active--;
    }
  };
}
