import type { Awaitable } from "../../rpc/awaitable.ts";
import type { Clock } from "../../rpc/clock.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import { Method, Notification } from "../../mcp/methods.ts";
import { isPartOf } from "../../mcp/resources.ts";
import type { Credentials } from "../connect/transports.ts";

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

/** A cached result. */
interface Entry {
  readonly method: string;
  readonly uri: unknown;
  /** The result as JSON, so that each reader has a copy, and the size is known. */
  readonly text: string;
  readonly freshUntil: number;
  /** The credentials that a private result was requested with. Undefined for a public one, and if they cannot change. */
  readonly credentials: number | undefined;
}

/** Maximum number of entries. The least recently used one is removed first. */
const maxEntries = 256;
/** Maximum characters of all cached JSON. They take up to two bytes each, so 16 MiB in all. */
const maxTotal = 8 * 2 ** 20;
/** Maximum characters of one cached result. */
const maxLength = 2 ** 20;

/**
 * The results of a client for as long as the server declares them fresh.
 *
 * A private result is only served with the credentials that it was requested with. Public results are served with any.
 */
export class Cache {
  readonly #clock: Clock;
  readonly #credentials: Credentials | undefined;
  /** The least recently used entry is the first. */
  readonly #entries = new Map<string, Entry>();
  /** The number of characters of all entries. */
  #length = 0;
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
    const { _meta: _, ...keyParams } = params;
    return `${method} ${JSON.stringify(keyParams)}`;
  }

  /** Returns a copy of a fresh result. */
  get(key: string): Awaitable<JsonObject | undefined> {
    const owner = this.#entries.get(key)?.credentials;
    if (owner === undefined || !this.#credentials) return this.#read(key);
    // Without credentials there is no private result to return; the request will fail with the same error.
    const current = this.#credentials.read().catch(() => undefined);
    return current.then((generation) => {
      if (generation !== owner) this.#remove(key);
      return this.#read(key);
    });
  }

  /** Returns a copy of a fresh result. Its `ttlMs` is the time that is left. */
  #read(key: string): JsonObject | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    this.#remove(key);
    const ttlMs = entry.freshUntil - this.#clock.now();
    if (ttlMs <= 0) return undefined;
    this.#insert(key, entry);
    const result: JsonObject = JSON.parse(entry.text);
    return { ...result, ttlMs };
  }

  /** Notes a request whose result may be cached. */
  begin({ method, params }: { method: string; params: JsonObject }, key: string): Pending {
    const pending = { key, method, uri: params.uri, isStale: false, credentials: undefined };
    this.#pending.add(pending);
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

  /**
   * Caches a result for its `ttlMs`, unless it was declared changed since its request was sent. Removes expired results, and the
   * least recently used results over the limits.
   */
  put(pending: Pending, result: JsonObject): void {
    const { key, method, uri, isStale, credentials } = pending;
    const { ttlMs, cacheScope } = result;
    this.#remove(key);
    if (isStale || typeof ttlMs !== "number" || !(ttlMs > 0)) return;
    let text: string;
    try {
      text = JSON.stringify(result);
    } catch {
      return; // Nested so deep that it exhausts the stack.
    }
    if (text.length > maxLength) return;
    const now = this.#clock.now();
    for (const [otherKey, { freshUntil }] of this.#entries) if (freshUntil <= now) this.#remove(otherKey);
    // If the credentials have changed since, the request may have been sent with either, and the result is never served.
    const owner = cacheScope === "public" ? undefined : credentials;
    this.#insert(key, { method, uri, text, freshUntil: now + ttlMs, credentials: owner });
    for (const oldestKey of this.#entries.keys()) {
      if (this.#entries.size <= maxEntries && this.#length <= maxTotal) break;
      this.#remove(oldestKey);
    }
  }

  /** Removes the results that a notification declares changed. */
  invalidate(method: string, params: JsonObject): void {
    if (method === Notification.toolsChanged) this.forget(Method.listTools);
    else if (method === Notification.promptsChanged) this.forget(Method.listPrompts);
    else if (method === Notification.resourcesChanged) {
      this.forget(Method.listResources);
      this.forget(Method.listResourceTemplates);
    } else if (method === Notification.resourceUpdated) {
      this.#removeIf(
        (entry) => entry.method === Method.readResource && isPartOf(String(params.uri), String(entry.uri)),
      );
    }
  }

  /** Removes all results of a method, or of all methods. */
  forget(method?: string): void {
    this.#removeIf((entry) => method === undefined || entry.method === method);
  }

  #removeIf(isChanged: (entry: Pick<Pending, "method" | "uri">) => boolean): void {
    for (const [key, entry] of this.#entries) if (isChanged(entry)) this.#remove(key);
    for (const pending of this.#pending) if (isChanged(pending)) pending.isStale = true;
  }

  #insert(key: string, entry: Entry): void {
    this.#remove(key);
    this.#entries.set(key, entry);
    this.#length += entry.text.length;
  }

  #remove(key: string): void {
    this.#length -= this.#entries.get(key)?.text.length ?? 0;
    this.#entries.delete(key);
  }
}
