import type { Clock } from "../../rpc/clock.ts";
import { type JsonObject, isObject } from "../../rpc/messages.ts";
import { Method, Notification } from "../../mcp/methods.ts";
import type { Call, Next } from "./call.ts";

interface Entry {
  result: JsonObject;
  freshUntil: number;
}

/** The methods whose results may be cached (2026-07-28, server/utilities/caching, Cacheable Results). */
const cacheable: ReadonlySet<string> = new Set([
  Method.listTools,
  Method.listPrompts,
  Method.listResources,
  Method.listResourceTemplates,
  Method.readResource,
]);

/** Maximum number of entries. The least recently used one is removed first. */
const maxEntries = 256;
/** Maximum length of cached contents, in characters. */
const maxLength = 1_000_000;

/** Answers a call with a fresh cached result, or caches its result. */
export async function fromCache(call: Call, next: Next): Promise<JsonObject> {
  const { cache } = call.core;
  const key = cache?.keyOf(call.method, call.params);
  if (!cache || key === undefined) return next.step(call, next.next);
  const cached = call.options.fresh ? undefined : cache.get(key);
  if (cached) return cached;
  const result = await next.step(call, next.next);
  if (call.generation !== undefined) cache.put(key, result, call.generation);
  return result;
}

/**
 * The results of a client for as long as the server declares them fresh.
 *
 * A cache belongs to one client and thus to one principal, so public and private results are treated alike.
 */
export class Cache {
  readonly #clock: Clock;
  /** The least recently used entry is the first. */
  readonly #entries = new Map<string, Entry>();
  #generation = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Changes with each invalidation. A result that was requested before it must not be cached after it. */
  get generation(): number {
    return this.#generation;
  }

  /** Whether results of the method may be cached. */
  covers(method: string): boolean {
    return cacheable.has(method);
  }

  /** Returns the key of a request. Undefined if its result is never cached, for example because it contains answers. */
  keyOf(method: string, params: JsonObject): string | undefined {
    if (!this.covers(method) || "inputResponses" in params || "requestState" in params) return undefined;
    const { _meta: _, ...rest } = params;
    return keyOf(method, rest);
  }

  /** Returns a copy of a fresh result. */
  get(key: string): JsonObject | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    this.#entries.delete(key);
    if (this.#clock.now() >= entry.freshUntil) return undefined;
    this.#entries.set(key, entry);
    return structuredClone(entry.result);
  }

  /** Caches a result for its `ttlMs`, unless entries were invalidated since `generation`. */
  put(key: string, result: JsonObject, generation: number): void {
    const { ttlMs } = result;
    if (typeof ttlMs !== "number" || !(ttlMs > 0) || generation !== this.#generation || isLong(result)) return;
    this.#entries.delete(key);
    this.#entries.set(key, { result: structuredClone(result), freshUntil: this.#clock.now() + ttlMs });
    if (this.#entries.size > maxEntries) this.#entries.delete(this.#entries.keys().next().value!);
  }

  /** Removes the results that a notification declares changed. */
  invalidate(method: string, params: JsonObject): void {
    if (method === Notification.toolsChanged) this.forget(Method.listTools);
    else if (method === Notification.promptsChanged) this.forget(Method.listPrompts);
    else if (method === Notification.resourcesChanged) {
      this.forget(Method.listResources);
      this.forget(Method.listResourceTemplates);
    } else if (method === Notification.resourceUpdated) {
      this.#generation++;
      this.#entries.delete(keyOf(Method.readResource, { uri: params.uri }));
    }
  }

  /** Removes all results of a method, or of all methods. */
  forget(method?: string): void {
    this.#generation++;
    const prefix = method === undefined ? "" : keyOf(method);
    for (const key of this.#entries.keys()) if (key.startsWith(prefix)) this.#entries.delete(key);
  }
}

function keyOf(method: string, params?: JsonObject): string {
  return `${method} ${params ? JSON.stringify(params) : ""}`;
}

function isLong({ contents }: JsonObject): boolean {
  if (!Array.isArray(contents)) return false;
  let length = 0;
  for (const part of contents) {
    const data: unknown = isObject(part) ? (part.text ?? part.blob) : undefined;
    if (typeof data === "string") length += data.length;
  }
  return length > maxLength;
}
