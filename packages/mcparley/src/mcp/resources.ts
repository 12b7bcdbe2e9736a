import { invalidParams } from "../rpc/errors.ts";
import type { JsonObject } from "../rpc/messages.ts";
import type { Annotations, Icon, ResourceContents, ResourceDescription } from "./content.ts";

/** A resource as a list shows it. */
export interface Resource extends ResourceDescription {
  annotations?: Annotations;
  _meta?: JsonObject;
}

/** A family of resources as a list shows it. */
export interface ResourceTemplate {
  uriTemplate: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  annotations?: Annotations;
  icons?: Icon[];
  _meta?: JsonObject;
}

/** How long a result may be kept, in milliseconds, and whether it may be shown to another user. */
export interface CacheHint {
  ttlMs: number;
  cacheScope: "public" | "private";
}

/** The result of `resources/read`. */
export interface ReadResourceResult extends Partial<CacheHint> {
  contents: ResourceContents[];
  _meta?: JsonObject;
}

/** Checks the params of methods that name one resource. */
export function readResourceUri(params: JsonObject): string {
  const { uri } = params;
  if (typeof uri !== "string" || uri === "") throw invalidParams("params.uri must be a non-empty string");
  return uri;
}

/** Checks the params of list methods; the cursor, where there is one, may be any string. */
export function readCursor(params: JsonObject): string | undefined {
  const { cursor } = params;
  if (cursor !== undefined && typeof cursor !== "string") throw invalidParams("params.cursor must be a string");
  return cursor;
}
