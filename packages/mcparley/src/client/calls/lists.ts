import { LocalError, ProtocolError } from "../../rpc/errors.ts";
import { ErrorCode } from "../../mcp/errors.ts";
import { type JsonObject, isObject } from "../../rpc/messages.ts";
import { Method } from "../../mcp/methods.ts";
import type { Prompt } from "../../mcp/prompts.ts";
import type { Resource, ResourceTemplate } from "../../mcp/resources.ts";
import type { Tool } from "../../mcp/tools.ts";
import type { RequestOptions } from "../options.ts";
import type { ClientCore } from "./call.ts";
import { headersOf } from "./known-tools.ts";
import { perform } from "./perform.ts";
import { withSafeIcons } from "./safe-icons.ts";

/** A list of the server. Iterate over it page by page, or read all of it. Each use sends new requests. */
export interface List<T> extends AsyncIterable<T> {
  all(): Promise<T[]>;
}

/** The requests and entries of a list. */
interface ListSource<T> {
  method: string;
  /** The member of the result that contains the page. */
  member: string;
  /** Requests a page. */
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
  return ownList(core, options, {
    method: Method.listTools,
    member: "tools",
    read: (entry) => readTool(core, entry),
    complete: () => {
      core.tools.isComplete = true;
    },
  });
}

async function readTool({ tools, sessions }: ClientCore, entry: JsonObject): Promise<Tool> {
  requireStrings(entry, "name");
  if (!isObject(entry.inputSchema)) throw new TypeError('its "inputSchema" is not an object');
  const tool = entry as unknown as Tool;
  // A tool whose headers cannot be made must not be offered over HTTP (2026-07-28, Streamable HTTP, Schema Extension).
  if (sessions.current?.mirrors) await headersOf(tool);
  tools.set(tool);
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

/** A list of the client itself. Its pages come from calls, and its entries have safe icons. */
function ownList<T>(
  core: ClientCore,
  options: RequestOptions,
  source: Pick<ListSource<T>, "method" | "member" | "read" | "complete">,
): List<T> {
  const { method, read } = source;
  const reportIcon = (icon: unknown): void => {
    const shown = JSON.stringify(icon)?.slice(0, 200);
    core.report(invalidList(`An icon of ${method} was left out, since its URI is neither https nor data: ${shown}`));
  };
  return listOf({
    ...source,
    read: (entry) => read(withSafeIcons(entry, reportIcon)),
    fetch: (cursor) => perform(core, { method, params: cursor === undefined ? {} : { cursor } }, options),
    report: (error) => core.report(error),
    forget: () => core.cache?.forget(method),
  });
}

/** Makes a list that reads its pages when they are needed. */
export function listOf<T>(source: ListSource<T>): List<T> {
  const collect = async (): Promise<T[]> => {
    const all: T[] = [];
    for await (const entry of entries(source)) all.push(entry);
    return all;
  };
  return {
    [Symbol.asyncIterator]: () => entries(source),
    async all() {
      try {
        return await collect();
      } catch (error) {
        // A cursor from a cached page may have become invalid (server/utilities/caching, Pagination).
        if (!(error instanceof ProtocolError) || error.code !== ErrorCode.InvalidParams) throw error;
        source.forget();
        return collect();
      }
    },
  };
}

async function* entries<T>(source: ListSource<T>): AsyncGenerator<T, void, undefined> {
  const { method, member } = source;
  const seen = new Set<string>();
  let cursor: string | undefined;
  let count = 0;
  for (let page = 0; page < maxPages; page++) {
    const result = await source.fetch(cursor);
    const found = result[member];
    if (!Array.isArray(found)) throw invalidList(`${method} was answered without an array "${member}".`);
    for (const entry of found) {
      if (++count > maxEntries) throw listTooLong(method, `${maxEntries} entries`);
      const read = await readEntry(source, entry);
      if (read) yield read.value;
    }
    const { nextCursor } = result;
    // Cursors are opaque, and the empty string is a valid one.
    if (nextCursor === undefined || nextCursor === null) return source.complete?.();
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

/** Reads an entry. A malformed one is reported and left out. */
async function readEntry<T>(source: ListSource<T>, entry: unknown): Promise<{ value: T } | undefined> {
  try {
    if (!isObject(entry)) throw new TypeError("it is not an object");
    return { value: await source.read(entry) };
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
