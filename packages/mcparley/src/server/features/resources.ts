import { type Awaitable, after, all } from "../../rpc/awaitable.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import type { ResourceContents } from "../../mcp/content.ts";
import { type CacheHint, readResourceUri } from "../../mcp/resources.ts";
import { streamToBase64, toBase64 } from "../../rpc/base64.ts";
import { checkCacheHint } from "../cache-hint.ts";
import type { Call } from "../dispatch/call.ts";
import type { Resource } from "../definition.ts";
import { InputRequired } from "../input/input-required.ts";
import { resourceNotFound } from "./resource-not-found.ts";
import { requireScopes } from "../dispatch/scopes.ts";

/** What a read may be kept for unless its definition says otherwise: not at all, and by nobody else. */
const noCache: CacheHint = { ttlMs: 0, cacheScope: "private" };

/** Answers `resources/read`. */
export function readResource(call: Call): Awaitable<JsonObject | InputRequired> {
  const uri = readResourceUri(call.params);
  const found = call.core.offering.resourceIndex.find(uri);
  if (!found) throw resourceNotFound(uri);
  const { entry, variables } = found;
  const { definition } = entry;
  requireScopes(definition.scopes, call.principal);
  call.uri = uri;
  return after(
    call.core.run(call, (context) => definition.read(variables as never, context as never)),
    (returned) => (returned instanceof InputRequired ? returned : toResult(returned, uri, definition)),
  );
}

function toResult(returned: unknown, uri: string, { cache, mimeType }: Resource): Awaitable<JsonObject> {
  const hint = cache ? { ...noCache, ...cache } : noCache;
  if (isReadResult(returned)) {
    checkCacheHint(returned);
    return { ...hint, ...returned };
  }
  const parts = Array.isArray(returned) ? (returned as unknown[]) : [returned];
  const contents = parts.map((part) => toContents(part, uri, mimeType));
  return after(all(contents), (read) => ({ contents: read, ...hint }));
}

function toContents(part: unknown, uri: string, mimeType: string | undefined): Awaitable<ResourceContents> {
  if (typeof part === "string") return mimeType === undefined ? { uri, text: part } : { uri, mimeType, text: part };
  const base = mimeType === undefined ? { uri } : { uri, mimeType };
  if (part instanceof Uint8Array) return { ...base, blob: toBase64(part) };
  if (isAsyncIterable(part)) return streamToBase64(part).then((blob) => ({ ...base, blob }));
  if (typeof part === "object" && part !== null) return partContents(part as JsonObject, base);
  throw new TypeError(`The resource ${uri} was read as ${typeof part}; give text, bytes, or contents.`);
}

function partContents({ meta, ...part }: JsonObject, base: { uri: string; mimeType?: string }): ResourceContents {
  const { blob } = part;
  const contents = { ...base, ...part } as JsonObject;
  if (blob instanceof Uint8Array) contents.blob = toBase64(blob);
  if (meta !== undefined) contents._meta = meta;
  if (typeof contents.text === "string" || typeof contents.blob === "string")
    return contents as unknown as ResourceContents;
  throw new TypeError(`The contents of ${base.uri} need "text" or "blob".`);
}

function isReadResult(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && Array.isArray((value as JsonObject).contents);
}

function isAsyncIterable(value: unknown): value is AsyncIterable<Uint8Array> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}
