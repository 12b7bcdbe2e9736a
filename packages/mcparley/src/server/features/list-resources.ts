import type { JsonObject, Prepared } from "../../rpc/messages.ts";
import { type Resource as ListedResource, readCursor } from "../../mcp/resources.ts";
import type { Call } from "../dispatch/call.ts";
import { cursorFor, finishPage, readPosition } from "../lists.ts";
import type { ResourceEntry } from "./prepare-resource.ts";
import { isGranted } from "../dispatch/scopes.ts";

/**
 * Answers `resources/list`: from prepared pages, or, where a template lists its resources by a function, by asking it.
 */
export async function listResources(call: Call): Promise<JsonObject | Prepared> {
  const { core, revision, encoder } = call;
  const cursor = readCursor(call.params);
  if (!core.offering.resourceIndex.hasListing()) return core.offering.resourceList.page(call, cursor);
  const start = cursor === undefined ? 0 : readPosition(cursor);
  const listed = await gather(call);
  const page = listed.slice(start, start + core.limits.pageSize);
  const result: JsonObject = { resources: page.map((resource) => encoder.resource(resource)) };
  if (listed.length > start + page.length && page.length > 0) result.nextCursor = cursorFor(start + page.length);
  return finishPage(result, { revision, cache: { ...core.listCache, cacheScope: "private" }, serverInfo: core.info });
}

async function gather(call: Call): Promise<ListedResource[]> {
  const visible = [...call.core.offering.resources.entries()].filter(({ definition }) =>
    isGranted(definition.scopes, call.principal),
  );
  const lists = await Promise.all(
    visible.map(async (entry) => (entry.template ? listTemplate(call, entry) : [entry.listed])),
  );
  return lists.flat();
}

async function listTemplate(call: Call, entry: ResourceEntry): Promise<ListedResource[]> {
  const { list } = entry.definition;
  if (!list) return [];
  const listed = (await call.core.run(call, list)) as readonly (string | Partial<ListedResource>)[];
  const { uriTemplate: _, ...shared } = entry.listedTemplate!;
  return listed.map((item) => {
    const given = typeof item === "string" ? { uri: item } : item;
    return { ...shared, name: given.uri ?? entry.name, ...given } as ListedResource;
  });
}
