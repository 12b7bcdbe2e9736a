import { type JsonObject, isObject } from "../../rpc/messages.ts";
import { Method } from "../../mcp/methods.ts";
import type { Prompt } from "../../mcp/prompts.ts";
import type { Resource, ResourceTemplate } from "../../mcp/resources.ts";
import type { Tool } from "../../mcp/tools.ts";
import type { RequestOptions } from "../options.ts";
import type { ClientCore } from "../calls/call.ts";
import { type Listing, headersOf } from "../calls/known-tools.ts";
import { type PagedList, type ListSource, makeList, pagesOf, requireStrings } from "./list-pages.ts";
import { perform } from "../calls/perform.ts";

/** The tools of the server. `core.tools` remembers them. */
export function listTools(core: ClientCore, options: RequestOptions): PagedList<Tool> {
  return makeList(() => toolSource(core, options).source);
}

/** Lists the tools, and yields after each page the tools that were listed so far. */
export async function* toolPages(core: ClientCore, options: RequestOptions): AsyncGenerator<Listing, void, undefined> {
  const reading = toolSource(core, options);
  const pages = pagesOf(reading.source);
  while (!(await pages.next()).done) yield reading.listing;
}

function toolSource(core: ClientCore, options: RequestOptions): { source: ListSource<Tool>; listing: Listing } {
  const { tools } = core;
  const source = ownSource<Tool>(core, options, {
    method: Method.listTools,
    member: "tools",
    async read(entry) {
      const tool = await readTool(core, entry);
      tools.add(reading.listing, tool);
      return tool;
    },
  });
  const reading = {
    listing: tools.begin(),
    source: {
      ...source,
      async fetch(cursor: string | undefined) {
        if (cursor === undefined) reading.listing = tools.begin();
        const page = await source.fetch(cursor);
        tools.beginPage(reading.listing, page);
        return page;
      },
      complete: () => tools.complete(reading.listing),
    },
  };
  return reading;
}

async function readTool({ sessions }: ClientCore, entry: JsonObject): Promise<Tool> {
  requireStrings(entry, "name");
  if (!isObject(entry.inputSchema)) throw new TypeError('its "inputSchema" is not an object');
  const tool = entry as unknown as Tool;
  // A tool whose headers cannot be made must not be offered over HTTP (2026-07-28, Streamable HTTP, Schema Extension).
  if (sessions.current?.mirrors) await headersOf(tool);
  return tool;
}

export function listPrompts(core: ClientCore, options: RequestOptions): PagedList<Prompt> {
  return ownList(core, options, { method: Method.listPrompts, member: "prompts", read: named("name") });
}

export function listResources(core: ClientCore, options: RequestOptions): PagedList<Resource> {
  return ownList(core, options, { method: Method.listResources, member: "resources", read: named("uri", "name") });
}

export function listResourceTemplates(core: ClientCore, options: RequestOptions): PagedList<ResourceTemplate> {
  return ownList(core, options, {
    method: Method.listResourceTemplates,
    member: "resourceTemplates",
    read: named("uriTemplate", "name"),
  });
}

function named<T>(...members: string[]): (entry: JsonObject) => T {
  return (entry) => {
    requireStrings(entry, ...members);
    return entry as T;
  };
}

/** A list of the client itself. */
function ownList<T>(
  core: ClientCore,
  options: RequestOptions,
  source: Pick<ListSource<T>, "method" | "member" | "read">,
): PagedList<T> {
  return makeList(() => ownSource(core, options, source));
}

/** The source of a list of the client itself. Its pages come from calls, and its entries have safe icons. */
function ownSource<T>(
  core: ClientCore,
  options: RequestOptions,
  source: Pick<ListSource<T>, "method" | "member" | "read">,
): ListSource<T> {
  const { method, read } = source;
  return {
    ...source,
    maxBytes: core.options.maxListBytes,
    async read(entry) {
      // Most entries have no icons.
      if (!Array.isArray(entry.icons)) return read(entry);
      const { listedWithSafeIcons } = await import("../calls/on-demand.ts");
      return read(listedWithSafeIcons(core, method, entry));
    },
    fetch: (cursor) => perform(core, { method, params: cursor === undefined ? {} : { cursor } }, options),
    report: (error) => core.report(error),
    forget: () => core.cache?.forget(method),
  };
}
