import { LocalError } from "../../../rpc/errors.ts";
import { resource } from "../../../server/definition.ts";
import type { ServerExtension } from "../../../server/extension.ts";
import type { Registry } from "../../../server/registry.ts";
import { resourceNotFound } from "../../../server/features/resources.ts";
import { isGranted, requireScopes } from "../../../server/dispatch/scopes.ts";
import type { ResourceRegistry } from "../../../server/server.ts";
import { skillsId } from "../skill-entry.ts";
import { uriOf } from "../skill-uri.ts";
import { Catalog } from "./catalog.ts";
import { SkillPages, fileResource, skillMethods } from "./methods.ts";
import { type Skill, readFile } from "./skill.ts";

/** Options of `skills`. */
export interface SkillsOptions {
  /** Whether clients may read what a folder holds (`resources/directory/read`). True unless given. */
  directoryRead?: boolean;
}

/** The skills of a server, by the paths of their folders: an extension, and a registry that may change at any time. */
export interface Skills extends ServerExtension, Registry<Skill> {}

/** The name under which the files of skills are among a server's resources. */
const resourceName = "skill files";

/**
 * Gives a server skills: `createServer({ extensions: [skills({ "git-workflow": skill({ ... }) })] })`.
 *
 * The keys are paths, `acme/billing/refunds`, whose last part is the skill's name; its files are then resources such
 * as `skill://acme/billing/refunds/SKILL.md`. Clients without the extension find each `SKILL.md` in their list of
 * resources. Throws `LocalError` `invalid_definition`, naming the skill.
 */
export function skills(
  given: Readonly<Record<string, Skill>> = {},
  { directoryRead = true }: SkillsOptions = {},
): Skills {
  const catalog = new Catalog();
  const pages = new SkillPages(catalog);
  for (const [path, skill] of Object.entries(given)) catalog.set(path, skill);
  // Weakly held: a server that is not used any more is not kept by the skills that it shares with others.
  const servers = new Set<WeakRef<ResourceRegistry>>();
  const files = filesOf(catalog);

  function offer(resources: ResourceRegistry): void {
    if (catalog.size > 0) resources.set(resourceName, files);
    else resources.delete(resourceName);
  }

  function changed(path: string, before: Skill | undefined): void {
    pages.clear();
    const uris = before ? changedUris(path, before, catalog.get(path)) : [];
    for (const held of servers) {
      const resources = held.deref();
      if (!resources) servers.delete(held);
      else {
        offer(resources);
        for (const uri of uris) resources.updated(uri);
      }
    }
  }

  return {
    id: skillsId,
    settings: directoryRead ? { directoryRead: true } : {},
    features: ["resources"],
    methods: skillMethods(catalog, pages, directoryRead),
    offer({ resources }) {
      if (resources.has(resourceName)) {
        const why = `A server with skills cannot have a resource of the name "${resourceName}": its files have it.`;
        throw new LocalError("invalid_definition", why);
      }
      for (const held of servers) if (!held.deref()) servers.delete(held);
      servers.add(new WeakRef(resources));
      offer(resources);
    },
    get size() {
      return catalog.size;
    },
    get: (path) => catalog.get(path),
    has: (path) => catalog.get(path) !== undefined,
    set(path, skill) {
      const before = catalog.get(path);
      catalog.set(path, skill);
      changed(path, before);
    },
    delete(path) {
      const before = catalog.get(path);
      if (!before) return false;
      catalog.delete(path);
      changed(path, before);
      return true;
    },
    *[Symbol.iterator]() {
      for (const { name, definition } of catalog.entries()) yield [name, definition];
    },
  };
}

/** The resource that all files of all skills are. A file is found by its URI as a whole: no path is ever resolved. */
function filesOf(catalog: Catalog): ReturnType<typeof resource<string>> {
  return resource<string>("skill://{+path}", {
    description: "A file of a skill. Begin with the skill's SKILL.md.",
    list: ({ principal }) =>
      [...catalog.entries()]
        .filter(({ definition }) => isGranted(definition.scopes, principal))
        .map(({ name }) => fileResource(catalog.find(uriOf(`${name}/SKILL.md`))!)),
    async read(_, { uri, principal }) {
      const found = catalog.find(uri);
      if (!found) throw resourceNotFound(uri);
      requireScopes(found.skill.scopes, principal);
      const content = await readFile(found.file);
      const { mimeType } = found.file;
      return typeof content === "string" ? { text: content, mimeType } : { blob: content, mimeType };
    },
  });
}

/** The URIs at which something else is now. */
function changedUris(path: string, before: Skill, after: Skill | undefined): string[] {
  return [...before.files]
    .filter(([name, { source, sum }]) => {
      const now = after?.files.get(name);
      const isSame =
        now?.source === source ||
        (typeof sum === "object" && typeof now?.sum === "object" && now.sum.digest === sum.digest);
      return !isSame;
    })
    .map(([name]) => uriOf(`${path}/${name}`));
}
