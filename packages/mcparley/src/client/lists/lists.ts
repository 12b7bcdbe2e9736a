import { type Awaitable, isPromise } from "../../rpc/awaitable.ts";
import { LocalError } from "../../rpc/errors.ts";
import { type JsonObject, isObject } from "../../rpc/messages.ts";
import { Method } from "../../mcp/methods.ts";
import type { Tool } from "../../mcp/tools.ts";
import type { ClientCore } from "../core.ts";
import type { RequestOptions } from "../options.ts";
import { type KnownTool, type Listing, headersOf } from "../calls/known-tools.ts";
import { totalOf } from "../calls/call.ts";
import { type PagedList, type ListSource, listOf, pagesOf, requireStrings } from "./list-pages.ts";
import { perform } from "../calls/perform.ts";
import { listedWithSafeIcons } from "./safe-icons.ts";
import { withValidMembers } from "./valid-members.ts";

/** Returns the list of tools. `core.tools` remembers the tools that are read. */
export function listTools(core: ClientCore, options: RequestOptions): PagedList<Tool> {
  return listOf(() => toolSource(core, options).source);
}

/** Lists the tools, and yields after each page the tools that were listed so far. */
export async function* toolPages(core: ClientCore, options: RequestOptions): AsyncGenerator<Listing, void, undefined> {
  const reading = toolSource(core, options);
  const pages = pagesOf(reading.source);
  while (!(await pages.next()).done) yield reading.listing;
}

function toolSource(core: ClientCore, options: RequestOptions): { source: ListSource<Tool>; listing: Listing } {
  const { tools } = core;
  const add = (tool: Tool, headers: KnownTool["headers"]): Tool => {
    tools.add(reading.listing, tool, headers);
    return tool;
  };
  const source = listSource<Tool>(core, options, {
    method: Method.listTools,
    member: "tools",
    key: "name",
    read(entry) {
      requireStrings(entry, "name");
      if (!isObject(entry.inputSchema)) throw new TypeError('its "inputSchema" is not an object');
      const tool = entry as unknown as Tool;
      // A tool whose headers cannot be made must not be offered over HTTP (2026-07-28, Streamable HTTP, Schema Extension).
      const headers = core.sessions.current?.mirrors ? headersOf(tool) : undefined;
      return isPromise(headers) ? headers.then(add.bind(undefined, tool)) : add(tool, headers);
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
      complete(isWhole: boolean) {
        if (isWhole) tools.complete(reading.listing);
        else tools.giveUp(reading.listing.generation);
      },
    },
  };
  return reading;
}

type PlainList = typeof Method.listPrompts | typeof Method.listResources | typeof Method.listResourceTemplates;

/** The lists without further steps. `member` of the result has the entries. `strings` are the members of an entry that must be strings, its key first. */
const plainLists: Readonly<
  Record<PlainList, { member: string; strings: readonly [key: string, ...others: string[]] }>
> = {
  [Method.listPrompts]: { member: "prompts", strings: ["name"] },
  [Method.listResources]: { member: "resources", strings: ["uri", "name"] },
  [Method.listResourceTemplates]: { member: "resourceTemplates", strings: ["uriTemplate", "name"] },
};

/** Returns a list of prompts, of resources or of resource templates. */
export function listEntries<T>(core: ClientCore, method: PlainList, options: RequestOptions): PagedList<T> {
  const { member, strings } = plainLists[method];
  const [key] = strings;
  const read = (entry: JsonObject): T => {
    requireStrings(entry, ...strings);
    return entry as T;
  };
  return listOf(() => listSource(core, options, { method, member, key, read }));
}

/** Makes the source of a list. Its pages are results of calls, and its entries have only safe icons. */
function listSource<T>(
  core: ClientCore,
  options: RequestOptions,
  source: Pick<ListSource<T>, "method" | "member" | "key" | "read">,
): ListSource<T> {
  const { method, read } = source;
  const readValid = (entry: JsonObject): Awaitable<T> =>
    read(
      withValidMembers(entry, (name) => {
        const message = `A member "${name}" of ${method} was left out: its type is wrong.`;
        core.report(new LocalError("invalid_message", message));
      }),
    );
  // The total timeout is for all pages. The time in which the caller uses the entries does not count.
  const timeBudget = { left: totalOf(core, options) };
  return {
    ...source,
    maxBytes: core.options.maxListBytes,
    read: (entry) => readValid(listedWithSafeIcons(core, method, entry)),
    fetch(cursor) {
      const params = cursor === undefined ? {} : { cursor };
      return perform(core, { method, params }, { ...options, timeBudget });
    },
    report: (error) => core.report(error),
    forget: () => core.cache?.forget(method),
  };
}
