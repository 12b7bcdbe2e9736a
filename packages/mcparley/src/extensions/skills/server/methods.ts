import { invalidParams } from "../../../rpc/errors.ts";
import type { JsonObject, Prepared } from "../../../rpc/messages.ts";
import { type CacheHint, type Resource, readCursor, readResourceUri } from "../../../mcp/resources.ts";
import type { Call } from "../../../server/core/call.ts";
import type { ServerCore } from "../../../server/core/server-core.ts";
import type { ExtensionMethod } from "../../../server/core/extension.ts";
import { type ListSource, PreparedLists, cursorFor, readPosition } from "../../../server/features/lists.ts";
import type { Entry } from "../../../server/core/registry.ts";
import { isGranted, requireScopes } from "../../../server/core/scopes.ts";
import { SkillMethod, directoryType } from "../skill-entry.ts";
import type { Catalog, FoundFile } from "./catalog.ts";
import type { Skill } from "./skill.ts";

/** Maximum number of skills on a page. An entry lists all files of its skill, so that pages can be large. */
const maxPageSize = 100;
const revisionKinds = ["modern", "legacy"] as const;

/** The pages of `skills/list`. A server's pages are prepared on first use, and again after a skill has changed. */
export class SkillPages {
  readonly #source: ListSource<Entry<Skill>>;
  #lists = new WeakMap<ServerCore, PreparedLists<Entry<Skill>>>();

  constructor(catalog: Catalog) {
    this.#source = {
      member: "skills",
      entries: () => catalog.entries(),
      show: (entry, { principal }) => catalog.show(entry, principal),
    };
  }

  /** Returns the page of a server after a cursor, or the first page. */
  page(call: Call, cursor: string | undefined): Prepared {
    const { limits, listCache: cache, info: serverInfo } = call.core;
    const pageSize = Math.min(limits.pageSize, maxPageSize);
    const lists = this.#lists.get(call.core) ?? new PreparedLists(this.#source, { pageSize, cache, serverInfo });
    this.#lists.set(call.core, lists);
    return lists.page(call, cursor);
  }

  /** Discards the pages of all servers. */
  clear(): void {
    this.#lists = new WeakMap();
  }
}

/** Returns the methods of the extension. Clients of every revision can use them. */
export function skillMethods(
  catalog: Catalog,
  pages: SkillPages,
  directoryRead: boolean,
): Record<string, ExtensionMethod> {
  return {
    [SkillMethod.list]: {
      revisionKinds,
      async answer(call) {
        const cursor = readCursor(call.params);
        // Skills may be added while the sizes and digests are calculated.
        for (let counting = catalog.counting(); counting; counting = catalog.counting()) await counting;
        return pages.page(call, cursor);
      },
    },
    [SkillMethod.get]: { revisionKinds, answer: (call) => getSkill(catalog, call) },
    ...(directoryRead && {
      [SkillMethod.readDirectory]: { revisionKinds, answer: async (call: Call) => readDirectory(catalog, call) },
    }),
  };
}

async function getSkill(catalog: Catalog, call: Call): Promise<JsonObject> {
  const uri = readResourceUri(call.params);
  for (;;) {
    const entry = catalog.findEntry(uri);
    if (!entry) throw invalidParams(`There is no skill at ${uri.slice(0, 500)}`, { uri });
    requireScopes(entry.definition.scopes, call.principal);
    const counting = catalog.counting(entry);
    if (!counting) return { skill: catalog.show(entry, call.principal), ...cacheOf(catalog, call) };
    // The skill may change while its digests are calculated.
    await counting;
  }
}

function readDirectory(catalog: Catalog, call: Call): JsonObject {
  const uri = readResourceUri(call.params);
  const cursor = readCursor(call.params);
  const visible = [...catalog.folder(uri)].filter((child) => isVisible(catalog, child, call.principal));
  if (visible.length === 0) throw invalidParams(`${uri.slice(0, 500)} is not a directory of this server`, { uri });
  const start = cursor === undefined ? 0 : readPosition(cursor);
  const { pageSize } = call.core.limits;
  const page = visible.toSorted(([a], [b]) => (a < b ? -1 : 1)).slice(start, start + pageSize);
  const resources = page.map(([child, file]) => {
    const name = decodeURIComponent(child.slice(child.lastIndexOf("/") + 1));
    return call.encoder.resource(file ? fileResource(file) : { uri: child, name, mimeType: directoryType });
  });
  return {
    resources,
    ...(visible.length > start + pageSize && { nextCursor: cursorFor(start + pageSize) }),
    ...cacheOf(catalog, call),
  };
}

/** Returns whether a principal may see a file or folder. A folder is visible if anything in it is. */
function isVisible(
  catalog: Catalog,
  [uri, file]: readonly [uri: string, file: FoundFile | undefined],
  principal: Call["principal"],
): boolean {
  if (file) return isGranted(file.skill.scopes, principal);
  return [...catalog.folder(uri)].some((child) => isVisible(catalog, child, principal));
}

/** Returns the resource of a file. `SKILL.md` has the name and the description of its skill. */
export function fileResource({ uri, name, file, skill }: FoundFile): Resource {
  const { mimeType, sum } = file;
  const size = typeof sum === "object" ? { size: sum.size } : {};
  if (file === skill.files.get("SKILL.md")) {
    const { name, description } = skill.frontmatter;
    return { uri, name, description, mimeType, ...size };
  }
  return { uri, name, mimeType, ...size };
}

/** Returns cache hints, if the revision has them. */
function cacheOf(catalog: Catalog, { core, revision }: Call): Partial<CacheHint> {
  if (!revision.typedResults) return {};
  return catalog.hasScopes ? { ...core.listCache, cacheScope: "private" } : core.listCache;
}
