import { LocalError, ProtocolError } from "../../rpc/errors.ts";
import { ErrorCode } from "../../mcp/errors.ts";
import { type JsonObject, isObject } from "../../rpc/messages.ts";

/** A list of the server: iterate over it, page by page as needed, or take all of it. Each use asks the server anew. */
export interface List<T> extends AsyncIterable<T> {
  all(): Promise<T[]>;
}

export interface ListSource<T> {
  method: string;
  /** The member of a result that holds the page. */
  member: string;
  fetch(cursor: string | undefined): Promise<JsonObject>;
  /** An entry as it is given on. Throws where it is malformed. */
  read(entry: JsonObject): T | Promise<T>;
  /** Called once the last page was read. */
  complete?(): void;
  /** Told of each entry that is skipped. */
  report(error: Error): void;
  /** Forgets the pages that were kept, so that the next ones are asked for. */
  forget(): void;
}

const maxPages = 1000;
const maxEntries = 100_000;

export function listOf<T>(source: ListSource<T>): List<T> {
  return {
    [Symbol.asyncIterator]: () => entries(source),
    async all() {
      try {
        return await collect(source);
      } catch (error) {
        // A cursor that came from a kept page may not be good any more (server/utilities/caching, Pagination).
        if (!(error instanceof ProtocolError) || error.code !== ErrorCode.InvalidParams) throw error;
        source.forget();
        return collect(source);
      }
    },
  };
}

async function collect<T>(source: ListSource<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const entry of entries(source)) all.push(entry);
  return all;
}

async function* entries<T>(source: ListSource<T>): AsyncGenerator<T, void, undefined> {
  const { method, member } = source;
  const seen = new Set<string>();
  let cursor: string | undefined;
  let count = 0;
  for (let page = 0; page < maxPages; page++) {
    const result = await source.fetch(cursor);
    const found = result[member];
    if (!Array.isArray(found)) throw invalid(`${method} was answered without an array "${member}".`);
    for (const entry of found) {
      if (++count > maxEntries) throw tooLarge(method, `${maxEntries} entries`);
      const read = await readEntry(source, entry);
      if (read) yield read.value;
    }
    const { nextCursor } = result;
    // Cursors are opaque: the empty string is one like any other.
    if (nextCursor === undefined || nextCursor === null) return source.complete?.();
    if (typeof nextCursor !== "string") throw invalid(`${method} was answered with a "nextCursor" that is no string.`);
    if (seen.has(nextCursor))
      throw invalid(`${method} was answered with the same cursor twice, so it would never end.`);
    seen.add(nextCursor);
    cursor = nextCursor;
  }
  throw tooLarge(method, `${maxPages} pages`);
}

async function readEntry<T>(source: ListSource<T>, entry: unknown): Promise<{ value: T } | undefined> {
  try {
    if (!isObject(entry)) throw new TypeError("it is not an object");
    return { value: await source.read(entry) };
  } catch (error) {
    const name = isObject(entry) ? JSON.stringify(entry.name ?? entry.uri ?? entry.uriTemplate) : JSON.stringify(entry);
    const reason = (error as Error).message;
    source.report(invalid(`An entry of ${source.method} was left out, ${name?.slice(0, 100)}: ${reason}`, error));
    return undefined;
  }
}

/** Checks that members of an entry are strings. */
export function requireStrings(entry: JsonObject, ...members: string[]): void {
  for (const member of members) {
    if (typeof entry[member] !== "string") throw new TypeError(`its "${member}" is not a string`);
  }
}

function invalid(message: string, cause?: unknown): LocalError {
  return new LocalError("invalid_message", message, { cause });
}

function tooLarge(method: string, limit: string): LocalError {
  return new LocalError(
    "too_large",
    `The list of ${method} is longer than ${limit}; to use a part of it, stop iterating sooner.`,
  );
}
