import { type Awaitable, isPromise } from "../../rpc/awaitable.ts";
import { LocalError, ProtocolError } from "../../rpc/errors.ts";
import { ErrorCode } from "../../mcp/errors.ts";
import { type JsonObject, isObject } from "../../rpc/messages.ts";

/** A list of the server. Iterate over its entries, or read all of them. Each use sends new requests, page by page. */
export interface PagedList<T> extends AsyncIterable<T>, OtherPageNames {
  /** Resolves with all entries. Rejects with `LocalError` `too_large` if the list exceeds the limits. */
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
  /** Requests a page. Without a cursor it is the first. */
  fetch(cursor: string | undefined): Promise<JsonObject>;
  /** Reads an entry. Throws if it is malformed. */
  read(entry: JsonObject): Awaitable<T>;
  /** Maximum size of all pages, in bytes of JSON. Default: 64 MiB. */
  maxBytes?: number | undefined;
  /** Called when the last page was read. */
  complete?(): void;
  /** Called with an error for each entry that is left out. */
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

/** Reads a list page by page. If the server refuses a cursor, starts once more with the first page, without the cache. */
export async function* pagesOf<T>(source: ListSource<T>): AsyncGenerator<Page<T>, void, undefined> {
  const { method, member, maxBytes = defaultMaxBytes } = source;
  const cursors = new Set<string>();
  let cursor: string | undefined;
  let count = 0;
  let bytes = 0;
  let isRestarted = false;
  for (let page = 0; page < maxPages; page++) {
    const result = await source.fetch(cursor).catch((error: unknown) => {
      const isRefused = error instanceof ProtocolError && error.code === ErrorCode.InvalidParams;
      if (isRestarted || cursor === undefined || !isRefused) throw error;
      return undefined;
    });
    if (!result) {
      // The list has changed since the page with this cursor was sent (server/utilities/caching, Pagination).
      isRestarted = true;
      cursor = undefined;
      count = 0;
      bytes = 0;
      cursors.clear();
      source.forget();
      continue;
    }
    const pageValues = result[member];
    if (!Array.isArray(pageValues)) throw invalidList(`The result of ${method} must contain an array "${member}".`);
    count += pageValues.length;
    if (count > maxEntries) throw listTooLong(method, `${maxEntries} entries`);
    // Most lists have one page. The transport limits its size.
    if (page > 0 || result.nextCursor != null) {
      bytes += sizeOfJson(result, method);
      if (bytes > maxBytes) throw listTooLong(method, `${maxBytes} bytes (option \`maxListBytes\`)`);
    }
    const entries = await readEntries(source, pageValues);
    const { nextCursor } = result;
    // Cursors are opaque, and the empty string is a valid one.
    const isLast = nextCursor === undefined || nextCursor === null;
    if (isLast) source.complete?.();
    yield { entries, isFirst: cursor === undefined, isLast };
    if (isLast) return;
    if (typeof nextCursor !== "string") throw invalidList(`The "nextCursor" of ${method} is not a string.`);
    if (cursors.has(nextCursor)) {
      throw invalidList(`The server returned the same cursor of ${method} twice, so the list would not end.`);
    }
    cursors.add(nextCursor);
    cursor = nextCursor;
  }
  throw listTooLong(method, `${maxPages} pages`);
}

/** Returns the size of a page as JSON, in bytes. Throws `too_large` if it is nested so deep that it exhausts the stack. */
function sizeOfJson(page: JsonObject, method: string): number {
  try {
    return new TextEncoder().encode(JSON.stringify(page)).length;
  } catch (cause) {
    throw new LocalError("too_large", `A page of ${method} is nested too deeply to be measured.`, { cause });
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

/** Reads the entries of a page. A malformed one is reported and left out. */
async function readEntries<T>(source: ListSource<T>, values: readonly unknown[]): Promise<Page<T>["entries"]> {
  const entries: Page<T>["entries"] = [];
  for (const entry of values) {
    const id = isObject(entry) ? (entry.uri ?? entry.uriTemplate ?? entry.name) : entry;
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
  return entries;
}

function invalidList(message: string, cause?: unknown): LocalError {
  return new LocalError("invalid_message", message, { cause });
}

function listTooLong(method: string, limit: string): LocalError {
  const message = `The list of ${method} is longer than ${limit}. To use a part of it, iterate over it and stop early.`;
  return new LocalError("too_large", message);
}
