import { LocalError, ProtocolError } from "../../rpc/errors.ts";
import { ErrorCode } from "../../mcp/errors.ts";
import { type JsonObject, isObject } from "../../rpc/messages.ts";
import { Method } from "../../mcp/methods.ts";
import type { Prompt } from "../../mcp/prompts.ts";
import type { Resource, ResourceTemplate } from "../../mcp/resources.ts";
import type { Tool } from "../../mcp/tools.ts";
import type { RequestOptions } from "../options.ts";
import type { ClientCore } from "./call.ts";
import { type Listing, headersOf } from "./known-tools.ts";
import { perform } from "./perform.ts";

/** A list of the server. Iterate over it page by page, or read all of it. Each use sends new requests. */
export interface List<T> extends AsyncIterable<T> {
  all(): Promise<T[]>;
}

/** The requests and entries of one reading of a list. */
interface ListSource<T> {
  method: string;
  /** The member of the result that contains the page. */
  member: string;
  /** Requests a page. Without a cursor it is the first. */
  fetch(cursor: string | undefined): Promise<JsonObject>;
  /** Reads an entry. Throws if it is malformed. */
  read(entry: JsonObject): T | Promise<T>;
  /** Called when the last page was read. */
  complete?(): void;
  /** Called with an error for each entry that is left out. */
  report(error: Error): void;
  /** Removes the cached pages. */
  forget(): void;
}

const maxPages = 1000;
const maxEntries = 100_000;

/** The tools of the server. `core.tools` remembers them. */
export function listTools(core: ClientCore, options: RequestOptions): List<Tool> {
  return makeList(() => toolSource(core, options).source);
}

/** Lists the tools, and yields after each page what was listed so far. */
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

export function listPrompts(core: ClientCore, options: RequestOptions): List<Prompt> {
  return ownList(core, options, { method: Method.listPrompts, member: "prompts", read: named("name") });
}

export function listResources(core: ClientCore, options: RequestOptions): List<Resource> {
  return ownList(core, options, { method: Method.listResources, member: "resources", read: named("uri", "name") });
}

export function listResourceTemplates(core: ClientCore, options: RequestOptions): List<ResourceTemplate> {
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

/** Throws if members of an entry are not strings. */
export function requireStrings(entry: JsonObject, ...members: string[]): void {
  for (const member of members) {
    if (typeof entry[member] !== "string") throw new TypeError(`its "${member}" is not a string`);
  }
}

/** A list of the client itself. */
function ownList<T>(
  core: ClientCore,
  options: RequestOptions,
  source: Pick<ListSource<T>, "method" | "member" | "read">,
): List<T> {
  return makeList(() => ownSource(core, options, source));
}

/** The source of a list of the client itself. Its pages come from calls, and its entries have safe icons. */
function ownSource<T>(
  core: ClientCore,
  options: RequestOptions,
  source: Pick<ListSource<T>, "method" | "member" | "read">,
): ListSource<T> {
  const { method, read } = source;
  const reportIcon = (icon: unknown): void => {
    const shown = JSON.stringify(icon)?.slice(0, 200);
    core.report(invalidList(`An icon of ${method} was left out, since its URI is neither https nor data: ${shown}`));
  };
  return {
    ...source,
    async read(entry) {
      // Most entries have no icons.
      if (!Array.isArray(entry.icons)) return read(entry);
      const { withSafeIcons } = await import("./on-demand.ts");
      return read(withSafeIcons(entry, reportIcon));
    },
    fetch: (cursor) => perform(core, { method, params: cursor === undefined ? {} : { cursor } }, options),
    report: (error) => core.report(error),
    forget: () => core.cache?.forget(method),
  };
}

/** Makes a list that reads its pages when they are needed. */
export function listOf<T>(source: ListSource<T>): List<T> {
  return makeList(() => source);
}

/** Makes a list whose source has a state for each reading. */
function makeList<T>(begin: () => ListSource<T>): List<T> {
  return {
    [Symbol.asyncIterator]: () => entriesOf(begin()),
    async all() {
      const all: T[] = [];
      for await (const { entries, isFirst } of pagesOf(begin())) {
        if (isFirst) all.length = 0;
        for (const { value } of entries) all.push(value);
      }
      return all;
    },
  };
}

/** Iterates over the entries of a list. After a restart it leaves out those that were given before. */
async function* entriesOf<T>(source: ListSource<T>): AsyncGenerator<T, void, undefined> {
  const given = new Set<unknown>();
  let isAgain = false;
  for await (const { entries, isFirst, isLast } of pagesOf(source)) {
    isAgain ||= isFirst && given.size > 0;
    for (const { id, value } of entries) {
      if (isAgain && given.has(id)) continue;
      // Only a list with further pages can be restarted.
      if (!isLast) given.add(id);
      yield value;
    }
  }
}

interface Page<T> {
  entries: { id: unknown; value: T }[];
  isFirst: boolean;
  isLast: boolean;
}

/** Reads a list page by page. If the server refuses a cursor, starts once more with the first page, without the cache. */
async function* pagesOf<T>(source: ListSource<T>): AsyncGenerator<Page<T>, void, undefined> {
  const { method, member } = source;
  const seen = new Set<string>();
  let cursor: string | undefined;
  let count = 0;
  let isRestarted = false;
  for (let page = 0; page < maxPages; page++) {
    const result = await source.fetch(cursor).catch((error: unknown) => {
      if (isRestarted || cursor === undefined || !isInvalidParams(error)) throw error;
      return undefined;
    });
    if (!result) {
      // The list has changed since the page with this cursor was sent (server/utilities/caching, Pagination).
      isRestarted = true;
      cursor = undefined;
      count = 0;
      seen.clear();
      source.forget();
      continue;
    }
    const found = result[member];
    if (!Array.isArray(found)) throw invalidList(`${method} was answered without an array "${member}".`);
    count += found.length;
    if (count > maxEntries) throw listTooLong(method, `${maxEntries} entries`);
    const entries: Page<T>["entries"] = [];
    for (const entry of found as unknown[]) {
      const read = await readEntry(source, entry);
      if (read) entries.push(read);
    }
    const { nextCursor } = result;
    // Cursors are opaque, and the empty string is a valid one.
    const isLast = nextCursor === undefined || nextCursor === null;
    if (isLast) source.complete?.();
    yield { entries, isFirst: cursor === undefined, isLast };
    if (isLast) return;
    if (typeof nextCursor !== "string")
      throw invalidList(`${method} was answered with a "nextCursor" that is no string.`);
    if (seen.has(nextCursor)) {
      throw invalidList(`${method} was answered with the same cursor twice, so the list would never end.`);
    }
    seen.add(nextCursor);
    cursor = nextCursor;
  }
  throw listTooLong(method, `${maxPages} pages`);
}

function isInvalidParams(error: unknown): boolean {
  return error instanceof ProtocolError && error.code === ErrorCode.InvalidParams;
}

/** Reads an entry. A malformed one is reported and left out. */
async function readEntry<T>(source: ListSource<T>, entry: unknown): Promise<Page<T>["entries"][number] | undefined> {
  try {
    if (!isObject(entry)) throw new TypeError("it is not an object");
    return { id: entry.uri ?? entry.uriTemplate ?? entry.name, value: await source.read(entry) };
  } catch (error) {
    const name = isObject(entry) ? JSON.stringify(entry.name ?? entry.uri ?? entry.uriTemplate) : JSON.stringify(entry);
    const reason = (error as Error).message;
    source.report(invalidList(`An entry of ${source.method} was left out, ${name?.slice(0, 100)}: ${reason}`, error));
    return undefined;
  }
}

function invalidList(message: string, cause?: unknown): LocalError {
  return new LocalError("invalid_message", message, { cause });
}

function listTooLong(method: string, limit: string): LocalError {
  const message = `The list of ${method} is longer than ${limit}; to use a part of it, stop iterating sooner.`;
  return new LocalError("too_large", message);
}
