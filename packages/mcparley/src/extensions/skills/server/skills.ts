import { LocalError } from "../../../rpc/errors.ts";
import { resource } from "../../../server/definition.ts";
import type { ServerExtension } from "../../../server/core/extension.ts";
import type { Registry } from "../../../server/core/registry.ts";
import { resourceNotFound } from "../../../server/features/resources.ts";
import { isGranted, requireScopes } from "../../../server/core/scopes.ts";
import type { ResourceRegistry } from "../../../server/core/definition-types.ts";
import { skillsId, uriOf } from "../skill-entry.ts";
import { Catalog } from "./catalog.ts";
import { fileResource, skillMethods, SkillPages } from "./methods.ts";
import { type Skill, readFile } from "./skill.ts";

/** Options of `skills`. */
export interface SkillsOptions {
  /** Whether clients may list folders (`resources/directory/read`). Default: true. */
  directoryRead?: boolean;
}

/** The skills of a server by the paths of their folders. They can change at any time. */
export interface Skills extends ServerExtension, Registry<Skill> {}

/** The name of the server's resource that serves all files of skills. */
const resourceName = "skill files";

/**
 * Adds skills to a server: `createServer({ extensions: [skills({ "git-workflow": skill({ ... }) })] })`.
 *
 * The keys are paths, `acme/billing/refunds`, whose last part is the skill's name; its files are then resources such
 * as `skill://acme/billing/refunds/SKILL.md`. Clients without the extension find each `SKILL.md` in their list of
 * resources. Throws `LocalError` `invalid_definition`, naming the skill.
 *
 * Stage of the extension `io.modelcontextprotocol/skills` on 2026-11-26: Beta. Breaking changes of its specification are
 * possible. They are rare, batched, and listed in its changelog. Before version 1.0, this library follows them in a minor
 * release.
 *
 * @example
 * ```ts
 * import { createServer } from "mcparley/server";
 * import { skill, skills } from "mcparley/skills";
 *
 * const refunds = skill({ "SKILL.md": "---\nname: refunds\ndescription: How to refund an order.\n---\nAsk first." });
 * const server = createServer({
 *   name: "shop",
 *   version: "1.0.0",
 *   extensions: [skills({ "billing/refunds": refunds })],
 * });
 * ```
 */
export function skills(
  given: Readonly<Record<string, Skill>> = {},
  { directoryRead = true }: SkillsOptions = {},
): Skills {
  const catalog = new Catalog();
  const pages = new SkillPages(catalog);
  for (const [path, skill] of Object.entries(given)) catalog.set(path, skill);
  const files = offerFiles(catalog);

  function notifyServers(path: string, previous: Skill | undefined): void {
    pages.clear();
    files.update(previous ? changedUris(path, previous, catalog.get(path)) : []);
  }

  return {
    id: skillsId,
    settings: directoryRead ? { directoryRead: true } : {},
    features: ["resources"],
    methods: skillMethods(catalog, pages, directoryRead),
    offer: ({ resources }) => files.addTo(resources),
    scopedNames: () =>
      [...catalog.entries()].filter(({ definition }) => definition.scopes?.length).map(({ name }) => `skill "${name}"`),
    get size() {
      return catalog.size;
    },
    get: (path) => catalog.get(path),
    has: (path) => catalog.get(path) !== undefined,
    set(path, skill) {
      const previous = catalog.get(path);
      catalog.set(path, skill);
      notifyServers(path, previous);
    },
    delete(path) {
      const previous = catalog.get(path);
      if (!previous) return false;
      catalog.delete(path);
      notifyServers(path, previous);
      return true;
    },
    *[Symbol.iterator]() {
      for (const { name, definition } of catalog.entries()) yield [name, definition];
    },
  };
}

interface OfferedFiles {
  /** Adds the resource to a server. Throws `invalid_definition` if the server has another resource of this name. */
  addTo(resources: ResourceRegistry): void;
  /** Called after a skill has changed. Notifies the servers of the changed files. */
  update(changedUris: readonly string[]): void;
}

/** Offers the files of all skills as one resource of each server that has the skills. Absent while there are no skills. */
function offerFiles(catalog: Catalog): OfferedFiles {
  const files = filesOf(catalog);
  // Weak references, because several servers can share the skills and a server may be discarded.
  const servers = new Set<WeakRef<ResourceRegistry>>();

  function offer(resources: ResourceRegistry): void {
    if (catalog.size > 0) resources.set(resourceName, files);
    else resources.delete(resourceName);
  }

  return {
    addTo(resources) {
      if (resources.has(resourceName)) {
        const why = `The resource name "${resourceName}" is reserved for the files of skills. Choose another name for the resource.`;
        throw new LocalError("invalid_definition", why);
      }
      for (const server of servers) if (!server.deref()) servers.delete(server);
      servers.add(new WeakRef(resources));
      offer(resources);
    },
    update(changedUris) {
      for (const server of servers) {
        const resources = server.deref();
        if (!resources) {
          servers.delete(server);
          continue;
        }
        offer(resources);
        for (const uri of changedUris) resources.updated(uri);
      }
    },
  };
}

/** Returns the resource that serves all files of all skills. A file is found by its whole URI; no path is resolved. */
function filesOf(catalog: Catalog): ReturnType<typeof resource<string>> {
  return resource<string>("skill://{+path}", {
    description: "A file of a skill. Start with the SKILL.md of the skill.",
    list: ({ principal }) =>
      [...catalog.entries()]
        .filter(({ definition }) => isGranted(definition.scopes, principal))
        .map((entry) => fileResource(catalog.manifest(entry))),
    async read(_, { uri, principal }) {
      const match = catalog.find(uri);
      if (!match) throw resourceNotFound(uri);
      requireScopes(match.skill.scopes, principal);
      const content = await readFile(match.file);
      const { mimeType } = match.file;
      return typeof content === "string" ? { text: content, mimeType } : { blob: content, mimeType };
    },
  });
}

/** Returns the URIs of the files that differ from before. */
function changedUris(path: string, previous: Skill, current: Skill | undefined): string[] {
  return [...previous.files]
    .filter(([name, { source, sum }]) => {
      const now = current?.files.get(name);
      const isSame =
        now?.source === source ||
        (typeof sum === "object" && typeof now?.sum === "object" && now.sum.digest === sum.digest);
      return !isSame;
    })
    .map(([name]) => uriOf(`${path}/${name}`));
}
