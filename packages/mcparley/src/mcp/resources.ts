import { invalidParams } from "../rpc/errors.ts";
import type { JsonObject } from "../rpc/messages.ts";
import type { Annotations, Icon, ResourceContents, ResourceDescription } from "./content.ts";

/** A resource in a list. */
export interface Resource extends ResourceDescription {
  /** Hints about the audience, priority and age of the contents. */
  annotations?: Annotations;
  /** Metadata of extensions. Keys have a prefix, such as `com.example/key`. */
  _meta?: JsonObject;
}

/** A resource template in a list. */
export interface ResourceTemplate {
  /** URI template (RFC 6570), such as `note://{id}`. */
  uriTemplate: string;
  /** Name for programs. */
  name: string;
  /** Name for people. Default: `name`. */
  title?: string;
  /** The resources that the template addresses, for the model. */
  description?: string;
  /** MIME type, if all matching resources have the same one. */
  mimeType?: string;
  /** Hints about the audience, priority and age of the contents. */
  annotations?: Annotations;
  /** Icons to show for the resources. */
  icons?: readonly Icon[];
  /** Metadata of extensions. Keys have a prefix, such as `com.example/key`. */
  _meta?: JsonObject;
}

/** The time for which a result may be cached, in milliseconds, and whether other users may receive it. */
export interface CacheHint {
  /** Milliseconds for which the result may be used again. 0 means not at all. */
  ttlMs: number;
  /** `public`: the result is the same for all callers. `private`: only for this caller. */
  cacheScope: "public" | "private";
}

/** The result of `resources/read`. */
export interface ReadResourceResult extends Partial<CacheHint> {
  /** The contents. A resource can have several parts, each with its URI. */
  contents: ResourceContents[];
  /** Metadata of extensions. Keys have a prefix, such as `com.example/key`. */
  _meta?: JsonObject;
}

/**
 * Returns whether a value is an absolute URI. Characters that only an IRI may contain are accepted. A lone surrogate is not: the
 * peer would receive another URI.
 */
export function isUri(value: unknown): boolean {
  return typeof value === "string" && /^[a-z]/i.test(value) && URL.canParse(value) && value.isWellFormed();
}

/** Validates the params of methods that name one resource. */
export function readResourceUri(params: JsonObject): string {
  const { uri } = params;
  if (typeof uri !== "string" || uri === "") throw invalidParams("params.uri must be a non-empty string");
  if (!uri.isWellFormed())
    throw invalidParams(`params.uri has half of a surrogate pair: ${JSON.stringify(uri.slice(0, 200))}`);
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

/**
 * Returns whether a URI is that of a resource or of a part of it: it is equal, or continues after a `/`, `?` or `#`. The
 * subscribers of a resource also receive the updates of its parts (2025-11-25, server/resources).
 */
export function isPartOf(uri: string, wholeUri: string): boolean {
  if (!uri.startsWith(wholeUri)) return false;
  return uri.length === wholeUri.length || /[/?#]$/.test(wholeUri) || /^[/?#]/.test(uri.slice(wholeUri.length));
}
