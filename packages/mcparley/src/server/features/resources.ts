import { type Awaitable, after, all } from "../../rpc/awaitable.ts";
import { toBase64, streamToBase64 } from "../../rpc/base64.ts";
import { ErrorCode } from "../../mcp/errors.ts";
import { ProtocolError } from "../../rpc/errors.ts";
import { type JsonObject, type Prepared, isObject } from "../../rpc/messages.ts";
import { checkAnnotations } from "../../mcp/checks/check-metadata.ts";
import type { ResourceContents } from "../../mcp/content.ts";
import {
  type CacheHint,
  type Resource as ListedResource,
  readCursor,
  isUri,
  readResourceUri,
  checkCacheHint,
} from "../../mcp/resources.ts";
import { parseTemplate } from "../../schema/uri-template.ts";
import { type Call, handlerContext } from "../core/call.ts";
import type { ResourceEntry } from "../core/server-core.ts";
import { isGranted, requireScopes } from "../core/scopes.ts";
import type { Resource } from "../core/definition-types.ts";
import { checkComplete, checkUri, describe, explainErrors } from "../checks/check-definition.ts";
import { InputRequired } from "../core/input-required.ts";
import { cursorFor, finishPage, readPosition } from "./lists.ts";
import { checkMembers } from "../checks/known-members.ts";
import type { Entry } from "../core/registry.ts";

/** Parses the URI of a resource and builds its list entry. Throws `invalid_definition`, naming the resource. */
export function prepareResource(entry: Entry<Resource>): ResourceEntry {
  const { name, definition } = entry;
  return explainErrors(`resource "${name}"`, () => {
    const commonMembers = describe("resource", name, definition);
    const { uri, mimeType, size, annotations, list, complete } = definition;
    checkUri(uri);
    checkMembers("annotations", annotations ?? {}, "annotations");
    checkAnnotations(annotations, "annotations");
    if (typeof definition.read !== "function")
      throw new TypeError("it has no `read` function; write resource(uri, { read })");
    checkMembers("cache", definition.cache ?? {}, "cache");
    checkCacheHint(definition.cache ?? {});
    for (const [variable, source] of Object.entries(complete ?? {})) checkComplete(source, `complete.${variable}`);
    const listMembers = { ...commonMembers, ...(mimeType && { mimeType }), ...(annotations && { annotations }) };
    const listEntry: ListedResource = { uri, ...listMembers };
    if (size !== undefined) listEntry.size = size;
    const isTemplate = uri.includes("{");
    const wrongMembers = isTemplate ? { size } : { list, complete };
    const stray = Object.entries(wrongMembers).find(([, value]) => value !== undefined)?.[0];
    if (stray !== undefined)
      throw new TypeError(
        `a ${isTemplate ? "template" : "resource without variables"} has no "${stray}"; leave it out`,
      );
    if (!isTemplate) return { ...entry, listed: listEntry, template: undefined, listedTemplate: undefined };
    const template = parseTemplate(uri);
    const unknown = Object.keys(complete ?? {}).find((name) => !template.variables.includes(name));
    if (unknown !== undefined) {
      throw new TypeError(`"complete" names "${unknown}", which is no variable of ${uri}`);
    }
    return { ...entry, listed: listEntry, template, listedTemplate: { uriTemplate: uri, ...listMembers } };
  });
}

/** The cache hint of a read result, if the definition has none. */
const noCache: CacheHint = { ttlMs: 0, cacheScope: "private" };

/** Answers `resources/read`. Throws "resource not found" if no resource has the URI, and 403 if the caller lacks a scope. */
export function readResource(call: Call): Awaitable<JsonObject | InputRequired> {
  const uri = readResourceUri(call.params);
  const match = call.core.offering.resourceIndex?.find(uri);
  if (!match) throw resourceNotFound(uri);
  const { definition } = match.entry;
  requireScopes(definition.scopes, call.principal);
  call.uri = uri;
  // Without a promise if possible, as in `callTool`.
  const variables = match.variables as never;
  const pendingValue = after(handlerContext(call), (context) => definition.read(variables, context));
  return after(pendingValue, (value) => toResult(value, uri, definition));
}

function toResult(value: unknown, uri: string, { cache, mimeType }: Resource): Awaitable<JsonObject | InputRequired> {
  if (value instanceof InputRequired) return value;
  const hint = cache ? { ...noCache, ...cache } : noCache;
  if (isObject(value) && Array.isArray(value.contents)) {
    checkCacheHint(value);
    return { ...hint, ...value };
  }
  const parts: unknown[] = Array.isArray(value) ? value : [value];
  const pending = all(parts.map((part) => toContents(part, uri, mimeType)));
  return after(pending, (contents) => ({ contents, ...hint }));
}

function toContents(part: unknown, uri: string, mimeType: string | undefined): Awaitable<ResourceContents> {
  if (typeof part === "string") return mimeType === undefined ? { uri, text: part } : { uri, mimeType, text: part };
  const base = mimeType === undefined ? { uri } : { uri, mimeType };
  if (part instanceof Uint8Array) return { ...base, blob: toBase64(part) };
  if (isAsyncIterable(part)) return streamToBase64(part).then((blob) => ({ ...base, blob }));
  if (!isObject(part)) {
    throw new TypeError(`The resource ${uri} returned a value of type ${typeof part}. Return text, bytes or contents.`);
  }
  const { meta, ...members } = part;
  const contents: JsonObject & { uri: string } = { ...base, ...members };
  if (contents.blob instanceof Uint8Array) contents.blob = toBase64(contents.blob);
  if (meta !== undefined) contents._meta = meta;
  const { text, blob } = contents;
  if (typeof text === "string") return { ...contents, text };
  if (typeof blob === "string") return { ...contents, blob };
  throw new TypeError(`The contents of ${uri} need "text" or "blob".`);
}

function isAsyncIterable(value: unknown): value is AsyncIterable<Uint8Array> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

/** Answers `resources/list` with a prepared page. If templates have `list` functions, the page includes their results. */
export async function listResources(call: Call): Promise<JsonObject | Prepared> {
  const { core, revision, encoder } = call;
  const cursor = readCursor(call.params);
  if (!core.offering.resourceIndex?.hasListing()) return core.offering.resourceList.page(call, cursor);
  const start = cursor === undefined ? 0 : readPosition(cursor);
  const visible = [...core.offering.resources.entries()].filter(({ definition }) =>
    isGranted(definition.scopes, call.principal),
  );
  const lists = await Promise.all(
    visible.map(async (entry) => (entry.template ? listTemplate(call, entry) : [entry.listed])),
  );
  const allResources = lists.flat();
  const page = allResources.slice(start, start + core.limits.pageSize);
  const result: JsonObject = { resources: page.map((resource) => encoder.resource(resource)) };
  if (allResources.length > start + page.length && page.length > 0) result.nextCursor = cursorFor(start + page.length);
  return finishPage(result, { revision, cache: { ...core.listCache, cacheScope: "private" }, serverInfo: core.info });
}

/**
 * Returns the resources that the `list` function of a template returns. Missing members are those of the template, except the
 * title: all resources would have the same one. Those without an absolute URI are left out and reported.
 */
async function listTemplate(call: Call, entry: ResourceEntry): Promise<ListedResource[]> {
  const { list } = entry.definition;
  if (!list) return [];
  const items = (await list(await handlerContext(call))) as readonly (string | Partial<ListedResource>)[];
  const { uriTemplate: _, title: __, ...templateMembers } = entry.listedTemplate!;
  return items.flatMap((item) => {
    const resource = typeof item === "string" ? { uri: item } : item;
    if (isUri(resource?.uri)) return [{ ...templateMembers, name: resource.uri, ...resource } as ListedResource];
    // Many clients refuse the whole list for an invalid URI, and one with half of a surrogate pair would be sent as another URI.
    const uri = JSON.stringify(resource?.uri)?.slice(0, 200);
    call.core.report(new TypeError(`"list" of the resource "${entry.name}" returned the invalid URI ${uri}.`), call);
    return [];
  });
}

/**
 * Makes the error "Resource not found". The client receives the code that its revision defines.
 *
 * Throw it in `read` if the URI matches the template but no resource has it.
 *
 * @example
 * ```ts
 * import { resource, resourceNotFound } from "mcparley/server";
 *
 * const users = new Map([["ada", "Ada Lovelace"]]);
 * const user = resource("user://{id}", {
 *   read: ({ id }, { uri }) => {
 *     const name = users.get(id);
 *     if (!name) throw resourceNotFound(uri);
 *     return name;
 *   },
 * });
 * ```
 */
export function resourceNotFound(uri: string): ProtocolError {
  return new ProtocolError(ErrorCode.ResourceNotFound, "Resource not found", { data: { uri } });
}
