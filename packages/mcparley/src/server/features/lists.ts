import { invalidParams } from "../../rpc/errors.ts";
import { type JsonObject, Prepared } from "../../rpc/messages.ts";
import type { CacheHint } from "../../mcp/resources.ts";
import type { Revision } from "../../mcp/revisions/revision.ts";
import { withEnvelope } from "../../mcp/revisions/encoder.ts";
import type { Implementation } from "../../mcp/capabilities.ts";
import type { ListCaller, PageList } from "../core/server-core.ts";
import type { Entry } from "../core/registry.ts";
import { isGranted } from "../core/scopes.ts";

interface Scoped {
  scopes?: readonly string[] | undefined;
}

export interface ListSource<E extends Entry<Scoped>> {
  /** The member of the result that holds the page: `tools`, `prompts`, ... */
  member: string;
  entries(): Iterable<E>;
  /** Returns the list entry for a caller. It may depend only on the caller's revision. */
  show(entry: E, caller: ListCaller): object;
}

interface ListOptions {
  pageSize: number;
  cache: CacheHint;
  serverInfo: Implementation;
}

/** Maximum number of cached pages per list. The cache is emptied when it is full and when the list changes. */
const maxPages = 4096;

/**
 * The pages of one list, serialised once for each revision and each set of entries that a caller may see.
 *
 * A cursor is the position of the last entry that was sent, so it stays valid when entries are added or removed.
 */
export class PreparedLists<E extends Entry<Scoped>> implements PageList {
  readonly #source: ListSource<E>;
  readonly #options: ListOptions;
  readonly #pages = new Map<string, Prepared>();
  /** The scopes that any entry needs. Undefined until the first page is made. */
  #scopes: readonly string[] | undefined;

  constructor(source: ListSource<E>, options: ListOptions) {
    this.#source = source;
    this.#options = options;
  }

  /** Discards all cached pages. Called when an entry was set or deleted. */
  clear(): void {
    this.#pages.clear();
    this.#scopes = undefined;
  }

  page(caller: ListCaller, cursor: string | undefined): Prepared {
    const { revision, principal } = caller;
    const position = cursor === undefined ? -1 : readPosition(cursor);
    this.#scopes ??= [...new Set([...this.#source.entries()].flatMap(({ definition }) => definition.scopes ?? []))];
    const grantedScopes = this.#scopes.filter((scope) => principal?.scopes.includes(scope)).join(" ");
    const key = `${revision.version} ${position} ${grantedScopes}`;
    const cachedPage = this.#pages.get(key);
    if (cachedPage) return cachedPage;
    const page = this.#make(caller, position);
    if (this.#pages.size >= maxPages) this.#pages.clear();
    this.#pages.set(key, page);
    return page;
  }

  #make(caller: ListCaller, position: number): Prepared {
    const { revision, principal } = caller;
    const { pageSize, serverInfo, cache } = this.#options;
    const visible = [...this.#source.entries()]
      .filter((entry) => entry.position > position && isGranted(entry.definition.scopes, principal))
      .toSorted((a, b) => a.position - b.position);
    const entries = visible.slice(0, pageSize);
    const result: JsonObject = { [this.#source.member]: entries.map((entry) => this.#source.show(entry, caller)) };
    const last = entries.at(-1);
    if (last && visible.length > pageSize) result.nextCursor = cursorFor(last.position);
    // Pages that depend on the caller's scopes are private, so that caches do not share them between callers.
    const hint: CacheHint = this.#scopes?.length ? { ...cache, cacheScope: "private" } : cache;
    return finishPage(result, { revision, cache: hint, serverInfo });
  }
}

/** Adds the cache hint and the result envelope if the revision has them, and serialises the page. */
export function finishPage(
  result: JsonObject,
  { revision, cache, serverInfo }: { revision: Revision; cache: CacheHint; serverInfo: Implementation },
): Prepared {
  return new Prepared(revision.typedResults ? withEnvelope({ ...result, ...cache }, serverInfo) : result);
}

/** Makes the cursor of the page that follows a position. */
export function cursorFor(position: number): string {
  return btoa(`after:${position}`);
}

/** Reads a cursor that `cursorFor` made, or throws -32602. */
export function readPosition(cursor: string): number {
  return Number(decodeCursor(cursor, /^after:(\d{1,15})$/));
}

/** Returns the first group of `form` in a cursor that is encoded with base64. Throws -32602 for any other cursor. */
export function decodeCursor(cursor: string, form: RegExp): string {
  let text = "";
  try {
    text = atob(cursor);
  } catch {
    // The cursor is not base64. It is rejected below, like every other invalid cursor.
  }
  const position = form.exec(text)?.[1];
  if (position === undefined) throw invalidParams("params.cursor is invalid. List again without a cursor.");
  return position;
}
