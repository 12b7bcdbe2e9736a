import type { Clock } from "../../rpc/clock.ts";
import { type JsonObject, isObject } from "../../rpc/messages.ts";
import { Method, Notification } from "../../mcp/methods.ts";

interface Kept {
  result: JsonObject;
  freshUntil: number;
}

/** The methods whose results may be kept (2026-07-28, server/utilities/caching, Cacheable Results). */
const cacheable: ReadonlySet<string> = new Set([
  Method.listTools,
  Method.listPrompts,
  Method.listResources,
  Method.listResourceTemplates,
  Method.readResource,
]);

/** So many results are kept, the ones used last. */
const maxKept = 256;
/** Contents longer than this, in characters, are read anew each time. */
const maxLength = 1_000_000;

/**
 * The results of one client that its server says are good for a while.
 *
 * It belongs to one client and thus to one principal, so public and private results are kept alike.
 */
export class Cache {
  readonly #clock: Clock;
  /** The least recently used first. */
  readonly #kept = new Map<string, Kept>();
  #generation = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Changes with each invalidation: a result that was asked for before one must not be kept after it. */
  get generation(): number {
    return this.#generation;
  }

  /** The key of a request; undefined where its result is never kept, as that of one which carries answers. */
  keyOf(method: string, params: JsonObject): string | undefined {
    if (!cacheable.has(method) || "inputResponses" in params || "requestState" in params) return undefined;
    const { _meta: _, ...rest } = params;
    return keyOf(method, rest);
  }

  /** A fresh result, as a copy: what the caller does with it changes nothing here. */
  get(key: string): JsonObject | undefined {
    const kept = this.#kept.get(key);
    if (!kept) return undefined;
    this.#kept.delete(key);
    if (this.#clock.now() >= kept.freshUntil) return undefined;
    this.#kept.set(key, kept);
    return structuredClone(kept.result);
  }

  /** Keeps a result for as long as it says, unless something was invalidated since `generation`. */
  put(key: string, result: JsonObject, generation: number): void {
    const { ttlMs } = result;
    if (typeof ttlMs !== "number" || !(ttlMs > 0) || generation !== this.#generation || isLong(result)) return;
    this.#kept.delete(key);
    this.#kept.set(key, { result: structuredClone(result), freshUntil: this.#clock.now() + ttlMs });
    if (this.#kept.size > maxKept) this.#kept.delete(this.#kept.keys().next().value!);
  }

  /** Forgets what a notification says has changed. */
  notified(method: string, params: JsonObject): void {
    if (method === Notification.toolsChanged) this.forget(Method.listTools);
    else if (method === Notification.promptsChanged) this.forget(Method.listPrompts);
    else if (method === Notification.resourcesChanged) {
      this.forget(Method.listResources);
      this.forget(Method.listResourceTemplates);
    } else if (method === Notification.resourceUpdated) {
      this.#generation++;
      this.#kept.delete(keyOf(Method.readResource, { uri: params.uri }));
    }
  }

  /** Forgets all results of a method, or of all methods. */
  forget(method?: string): void {
    this.#generation++;
    const prefix = method === undefined ? "" : keyOf(method);
    for (const key of this.#kept.keys()) if (key.startsWith(prefix)) this.#kept.delete(key);
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
