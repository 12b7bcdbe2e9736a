import { invalidParams } from "../rpc/errors.ts";
import type { JsonObject } from "../rpc/messages.ts";
import type { Annotations, Icon, ResourceContents, ResourceDescription } from "./content.ts";

/** A resource in a list. */
export interface Resource extends ResourceDescription {
  annotations?: Annotations;
  _meta?: JsonObject;
}

/** A resource template in a list. */
export interface ResourceTemplate {
  uriTemplate: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  annotations?: Annotations;
  icons?: readonly Icon[];
  _meta?: JsonObject;
}

/** The time for which a result may be cached, in milliseconds, and whether other users may receive it. */
export interface CacheHint {
  ttlMs: number;
  cacheScope: "public" | "private";
}

/** The result of `resources/read`. */
export interface ReadResourceResult extends Partial<CacheHint> {
  contents: ResourceContents[];
  _meta?: JsonObject;
}

/** Returns whether a value is an absolute URI. Characters that only an IRI may contain are accepted. */
export function isUri(value: unknown): boolean {
  return typeof value === "string" && /^[a-z]/i.test(value) && URL.canParse(value);
}

/** Validates the params of methods that name one resource. */
export function readResourceUri(params: JsonObject): string {
  const { uri } = params;
  if (typeof uri !== "string" || uri === "") throw invalidParams("params.uri must be a non-empty string");
  return uri;
}

/** Validates the params of list methods. The optional cursor can be any string. */
export function readCursor(params: JsonObject): string | undefined {
  const { cursor } = params;
  if (cursor !== undefined && typeof cursor !== "string") throw invalidParams("params.cursor must be a string");
  return cursor;
}

/** Checks the members of a cache hint. Throws a `TypeError` that names the invalid one. */
export function checkCacheHint({ ttlMs, cacheScope }: Partial<CacheHint>): void {
  if (ttlMs !== undefined && !(Number.isSafeInteger(ttlMs) && ttlMs >= 0)) {
    throw new TypeError(`ttlMs must be a whole number of milliseconds, 0 or more; got ${String(ttlMs)}`);
  }
  if (cacheScope !== undefined && cacheScope !== "public" && cacheScope !== "private") {
    throw new TypeError(`cacheScope must be "public" or "private"; got ${String(cacheScope)}`);
  }
}
