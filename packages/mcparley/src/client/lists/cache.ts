import { type Awaitable, isPromise } from "../../rpc/awaitable.ts";
import type { Clock } from "../../rpc/clock.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import { Method, Notification } from "../../mcp/methods.ts";
import { isPartOf } from "../../mcp/resources.ts";
import type { Credentials } from "../connect/transports.ts";
import type { CachedResults } from "./cached-results.ts";
import { type Call, type Next, waitFor } from "../calls/call.ts";

/** A request whose result may be cached. */
export interface Pending {
  readonly key: string;
  readonly method: string;
  readonly uri: unknown;
  /**
   * The result must not be cached: it was declared changed since the request was sent, or depends on answers of the user.
   */
  isStale: boolean;
  /** The credentials when the request was sent. */
  credentials: number | undefined;
}

/** The methods whose results may be cached (2026-07-28, server/utilities/caching, Cacheable Results). */
const cacheable: ReadonlySet<string> = new Set([
  Method.listTools,
  Method.listPrompts,
  Method.listResources,
  Method.listResourceTemplates,
  Method.readResource,
]);

/** Answers a call with a fresh cached result, or caches its result. */
export async function fromCache(call: Call, next: Next): Promise<JsonObject> {
  const { core, method, params, options } = call;
  const { cache, sessions } = core;
  const key = cache?.keyOf(method, params);
  if (!cache || key === undefined) return next.step(call, next.next);
  if (!options.fresh && !options.signal?.aborted && !sessions.isClosed) {
    const found = cache.get(call, key);
    // Without a result the request is sent at once, so that calls are sent in the order in which they were made.
    const cached = isPromise(found) ? await found : found;
    if (cached) return cached;
  }
  const pending = cache.begin(call, key);
  try {
    const result = await next.step(call, next.next);
    if (call.pending) await cache.put(pending, result);
    return result;
  } finally {
    cache.end(pending);
  }
}

/**
 * The results of a client for as long as the server declares them fresh.
 *
 * A private result is only served with the credentials that it was requested with. Public results are served with any.
 */
export class Cache {
  readonly #clock: Clock;
  readonly #credentials: Credentials | undefined;
  /** Loaded with the first result that may be cached. Many servers declare none fresh. */
  #results: CachedResults | undefined;
  /** The requests in flight. A change makes their results stale, because it may have overtaken them. */
  readonly #pending = new Set<Pending>();

  /** `credentials` are those of the client's requests. Undefined if they cannot change. */
  constructor(clock: Clock, credentials?: Credentials) {
    this.#clock = clock;
    this.#credentials = credentials;
  }

  /** Whether results of the method may be cached. */
  covers(method: string): boolean {
    return cacheable.has(method);
  }

  /** Returns the key of a request. Undefined if its result is never cached, for example because it contains answers. */
  keyOf(method: string, params: JsonObject): string | undefined {
    if (!this.covers(method) || "inputResponses" in params || "requestState" in params) return undefined;
    const { _meta: _, ...rest } = params;
    return `${method} ${JSON.stringify(rest)}`;
  }

  /** Returns a copy of a fresh result. */
  get(call: Call, key: string): Awaitable<JsonObject | undefined> {
    const owner = this.#results?.peek(key)?.credentials;
    if (owner === undefined || !this.#credentials) return this.#results?.get(key);
    // Without credentials there is no private result to return; the request will fail with the same error.
    const present = waitFor(
      call,
      this.#credentials.read().catch(() => undefined),
    );
    return present.then((now) => {
      if (now !== owner) this.#results?.remove(key);
      return this.#results?.get(key);
    });
  }

  /** Notes a request whose result may be cached. */
  begin(call: Call, key: string): Pending {
    const { method, params } = call;
    const pending = { key, method, uri: params.uri, isStale: false, credentials: undefined };
    this.#pending.add(pending);
    call.pending = pending;
    return pending;
  }

  /** Called each time the request is sent. Only changes after it make its result stale. */
  sending(pending: Pending, hasAnswers: boolean): void {
    pending.isStale = hasAnswers;
    pending.credentials = this.#credentials?.generation;
  }

  end(pending: Pending): void {
    this.#pending.delete(pending);
  }

  /** Caches a result for its `ttlMs`, unless it was declared changed since its request was sent. */
  async put(pending: Pending, result: JsonObject): Promise<void> {
    const { ttlMs, cacheScope } = result;
    this.#results?.remove(pending.key);
    if (typeof ttlMs !== "number" || !(ttlMs > 0)) return;
    if (!this.#results) {
      const { CachedResults } = await import("./cached-results.ts");
      this.#results ??= new CachedResults(this.#clock);
    }
    if (pending.isStale) return;
    // If the credentials have changed since, the request may have been sent with either, and the result is never served.
    this.#results.put(pending, result, cacheScope === "public" ? undefined : pending.credentials);
  }

  /** Removes the results that a notification declares changed. */
  invalidate(method: string, params: JsonObject): void {
    if (method === Notification.toolsChanged) this.forget(Method.listTools);
    else if (method === Notification.promptsChanged) this.forget(Method.listPrompts);
    else if (method === Notification.resourcesChanged) {
      this.forget(Method.listResources);
      this.forget(Method.listResourceTemplates);
    } else if (method === Notification.resourceUpdated) {
      this.#remove((kept) => kept.method === Method.readResource && isPartOf(String(params.uri), String(kept.uri)));
    }
  }

  /** Removes all results of a method, or of all methods. */
  forget(method?: string): void {
    this.#remove((kept) => method === undefined || kept.method === method);
  }

  #remove(isChanged: (kept: Pick<Pending, "method" | "uri">) => boolean): void {
    this.#results?.removeIf(isChanged);
    for (const pending of this.#pending) if (isChanged(pending)) pending.isStale = true;
  }
}
