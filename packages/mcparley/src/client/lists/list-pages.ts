import { type Awaitable, isPromise } from "../../rpc/awaitable.ts";
import { LocalError, ProtocolError, hasCode } from "../../rpc/errors.ts";
import { ErrorCode } from "../../mcp/errors.ts";
import { type JsonObject, isObject } from "../../rpc/messages.ts";

/** A list of the server. Iterate over its entries, or read all of them. Each use sends new requests, page by page. */
export interface PagedList<T> extends AsyncIterable<T>, OtherPageNames {
  /**
   * Resolves with all entries. A list that exceeds a limit, repeats a cursor or has a malformed later page ends early: the entries that
   * were read are returned, and `onError` receives the reason. `data.incompleteList` of that error is the method.
   */
  all(): Promise<T[]>;
}

/** Members of the lists of other libraries. Their types make the compiler's message contain the method to use. */
interface OtherPageNames {
  /** @deprecated Use `all()`. */
  readonly tools?: "Use await client.listTools().all(), or for await (const tool of client.listTools()).";
  /** @deprecated Use `all()`. */
  readonly prompts?: "Use await client.listPrompts().all(), or for await (const prompt of client.listPrompts()).";
  /** @deprecated Use `all()`. */
  readonly resources?: "Use await client.listResources().all(), or for await (const resource of client.listResources()).";
  /** @deprecated Use `all()`. */
  readonly resourceTemplates?: "Use await client.listResourceTemplates().all().";
}

/** The requests and entries of one reading of a list. */
export interface ListSource<T> {
  method: string;
  /** The member of the result that contains the page. */
  member: string;
  /** The member of an entry that identifies it. */
  key: string;
  /** Requests a page. Without a cursor it is the first. */
  fetch(cursor: string | undefined): Promise<JsonObject>;
  /** Reads an entry. Throws if it is malformed. */
  read(entry: JsonObject): Awaitable<T>;
  /** Maximum size of all pages, in bytes of JSON. Default: 64 MiB. */
  maxBytes?: number | undefined;
  /** Called when the last page was read, or when the list ends early. */
  complete?(isWhole: boolean): void;
  /** Called with an error for each entry that is left out, and with the reason if the list ends early. */
  report(error: Error): void;
  /** Removes the cached pages. */
  forget(): void;
}

const maxPages = 1000;
const maxEntries = 100_000;
const defaultMaxBytes = 64 * 2 ** 20;

/** Makes a list that reads its pages when they are needed. `begin` makes the source of one reading, which may have a state. */
export function listOf<T>(begin: () => ListSource<T>): PagedList<T> {
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

/** Iterates over the entries of a list. After a restart it leaves out those that were returned before. */
async function* entriesOf<T>(source: ListSource<T>): AsyncGenerator<T, void, undefined> {
  const returnedIds = new Set<unknown>();
  let isAgain = false;
  for await (const { entries, isFirst, isLast } of pagesOf(source)) {
    isAgain ||= isFirst && returnedIds.size > 0;
    for (const { id, value } of entries) {
      if (isAgain && returnedIds.has(id)) continue;
      // Only a list with further pages can be restarted.
      if (!isLast) returnedIds.add(id);
      yield value;
    }
  }
}

interface Page<T> {
  entries: { id: unknown; value: T }[];
  isFirst: boolean;
  isLast: boolean;
}

/** A fault after the first page of a list, which ends the list. */
class ListFault extends LocalError {}

/**
 * Reads a list page by page. A fault after the first page ends the list and is reported: the entries that were read are of use, and a
 * server with such a fault would otherwise have none.
 */
export async function* pagesOf<T>(source: ListSource<T>): AsyncGenerator<Page<T>, void, undefined> {
  try {
    yield* readPages(source);
  } catch (error) {
    if (!(error instanceof ListFault)) throw error;
    source.complete?.(false);
    const message = `The list of ${source.method} is incomplete; the entries that were read are used. ${error.message}`;
    source.report(new LocalError(error.code, message, { cause: error.cause, data: { incompleteList: source.method } }));
  }
}

/**
 * Reads a list page by page, without entries of earlier pages. If the server refuses a cursor, starts once more with the first page,
 * without the cache. Throws `ListFault` after the first page.
 */
async function* readPages<T>(source: ListSource<T>): AsyncGenerator<Page<T>, void, undefined> {
  const { method, member, maxBytes = defaultMaxBytes } = source;
  const cursors = new Set<string>();
  const ids = new Set<unknown>();
  let cursor: string | undefined;
  let count = 0;
  let bytes = 0;
  let isRestarted = false;
  for (let page = 0; page < maxPages; page++) {
    let result: JsonObject;
    try {
      result = await source.fetch(cursor);
    } catch (error) {
      if (cursor === undefined || isRestarted || !isRefusedCursor(error))
        throw cursor === undefined ? error : faultOf(error);
      // The list has changed since the page with this cursor was sent (server/utilities/caching, Pagination).
      isRestarted = true;
      cursor = undefined;
      count = 0;
      bytes = 0;
      cursors.clear();
      ids.clear();
      source.forget();
      continue;
    }
    const pageValues = result[member];
    if (!Array.isArray(pageValues)) {
      const error = invalidList(`The result of ${method} must contain an array "${member}".`);
      throw cursor === undefined ? error : faultOf(error);
    }
    const { nextCursor } = result;
    // Cursors are opaque, and the empty string is a valid one.
    const isLast = nextCursor === undefined || nextCursor === null;
    // Most lists have one page. The transport limits its size, so it is returned whatever its size.
    if (cursor !== undefined || !isLast) bytes += sizeOfJson(result);
    if (cursor !== undefined && bytes > maxBytes) throw listTooLong(`${maxBytes} bytes. Raise the option maxListBytes`);
    const readable = pageValues.slice(0, maxEntries - count);
    count += pageValues.length;
    const entries = await readEntries(source, readable, ids);
    if (isLast && count <= maxEntries) source.complete?.(true);
    yield { entries, isFirst: cursor === undefined, isLast };
    if (count > maxEntries) throw listTooLong(`${maxEntries} entries`);
    if (isLast) return;
    if (bytes > maxBytes) throw listTooLong(`${maxBytes} bytes. Raise the option maxListBytes`);
    cursor = nextOf(nextCursor, cursors, method);
  }
  throw listTooLong(`${maxPages} pages`);
}

/** Returns a cursor that the list has not had yet. */
function nextOf(cursor: unknown, cursors: Set<string>, method: string): string {
  if (typeof cursor !== "string") throw faultOf(invalidList(`The "nextCursor" of ${method} is not a string.`));
  if (cursors.has(cursor))
    throw faultOf(invalidList("The server returned the same cursor twice, so the list would not end."));
  cursors.add(cursor);
  return cursor;
}

function isRefusedCursor(error: unknown): error is ProtocolError {
  return error instanceof ProtocolError && error.code === ErrorCode.InvalidParams;
}

/** Returns the fault for an error after the first page. An error that may be over at the next attempt is returned unchanged. */
function faultOf(error: unknown): unknown {
  if (hasCode(error, "timeout", "too_large", "invalid_message"))
    return new ListFault(error.code, error.message, { cause: error });
  if (!isRefusedCursor(error)) return error;
  return new ListFault("invalid_message", `The server refuses its own cursor: ${error.message}`, { cause: error });
}

/** Returns the size of a page as JSON, in bytes. Infinity if it is nested so deep that it exhausts the stack. */
function sizeOfJson(page: JsonObject): number {
  try {
    return new TextEncoder().encode(JSON.stringify(page)).length;
  } catch {
    return Infinity;
  }
}

/** Throws if members of an entry are not strings. */
export function requireStrings<K extends string>(
  entry: JsonObject,
  ...members: readonly K[]
): asserts entry is JsonObject & Record<K, string> {
  for (const member of members) {
    if (typeof entry[member] !== "string") throw new TypeError(`its "${member}" is not a string`);
  }
}

/** Reads the entries of a page. A malformed one is reported and left out, and one whose id is in `ids` is left out. Adds the new ids. */
async function readEntries<T>(
  source: ListSource<T>,
  values: readonly unknown[],
  ids: Set<unknown>,
): Promise<Page<T>["entries"]> {
  const entries: Page<T>["entries"] = [];
  for (const entry of values) {
    const id = isObject(entry) ? entry[source.key] : entry;
    if (ids.has(id)) continue;
    try {
      if (!isObject(entry)) throw new TypeError("it is not an object");
      const reading = source.read(entry);
      // Almost all entries are read at once, and an `await` for each would take a third of the time of a list.
      entries.push({ id, value: isPromise(reading) ? await reading : reading });
    } catch (error) {
      const excerpt = JSON.stringify(id)?.slice(0, 100);
      const reason = error instanceof Error ? error.message : String(error);
      source.report(invalidList(`The entry ${excerpt} of ${source.method} was left out: ${reason}`, error));
    }
  }
  for (const { id } of entries) ids.add(id);
  return entries;
}

function invalidList(message: string, cause?: unknown): LocalError {
  return new LocalError("invalid_message", message, { cause });
}

function listTooLong(limit: string): LocalError {
  return new ListFault("too_large", `It is longer than ${limit}.`);
}
