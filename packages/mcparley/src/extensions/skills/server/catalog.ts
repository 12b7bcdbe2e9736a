import { LocalError } from "../../../rpc/errors.ts";
import type { Principal } from "../../../server/dispatch/context.ts";
import type { Entry } from "../../../server/registry.ts";
import { isGranted } from "../../../server/dispatch/scopes.ts";
import type { SkillEntry } from "../skill-entry.ts";
import { isPlainPath, uriOf } from "../skill-uri.ts";
import { type PreparedFile, type Skill, checkSize, countFile } from "./skill.ts";

/** A file by its URI, and the innermost skill that it belongs to. */
export interface FoundFile {
  readonly uri: string;
  readonly name: string;
  readonly file: PreparedFile;
  readonly skill: Skill;
}

/** Indexes of all skills, valid until one of them changes. */
interface Overview {
  readonly byUri: ReadonlyMap<string, FoundFile>;
  /** By the URIs of their `SKILL.md`. */
  readonly skills: ReadonlyMap<string, Entry<Skill>>;
  /** The files of each skill by its path, including those of skills in its folder. */
  readonly files: ReadonlyMap<string, ReadonlyMap<string, FoundFile>>;
  /** The content of each folder by its URI: files, and subfolders as undefined. */
  readonly folders: ReadonlyMap<string, ReadonlyMap<string, FoundFile | undefined>>;
}

/** The skills of a server, by the paths of their folders. */
export class Catalog {
  readonly #entries = new Map<string, Entry<Skill>>();
  #overview: Overview | undefined;
  #isCounted = false;
  #position = 0;

  get size(): number {
    return this.#entries.size;
  }

  get(path: string): Skill | undefined {
    return this.#entries.get(path)?.definition;
  }

  entries(): Iterable<Entry<Skill>> {
    return this.#entries.values();
  }

  /** Adds a skill, or replaces the one at the path. If it throws `invalid_definition`, nothing has changed. */
  set(path: string, skill: Skill): void {
    const before = this.#entries.get(path);
    checkPlace(path, skill);
    this.#entries.set(path, { name: path, definition: skill, position: before?.position ?? this.#position });
    try {
      this.#overview = undefined;
      this.#checkSizes(path);
    } catch (error) {
      this.#overview = undefined;
      if (before) this.#entries.set(path, before);
      else this.#entries.delete(path);
      throw error;
    }
    this.#isCounted = false;
    if (!before) this.#position++;
  }

  delete(path: string): boolean {
    this.#overview = undefined;
    return this.#entries.delete(path);
  }

  /** Calculates missing sizes and digests of files. Returns undefined if none is missing, so that entries can be shown. */
  counting(): Promise<unknown> | undefined {
    if (this.#isCounted) return undefined;
    const files = [...this.#entries.values()].flatMap(({ definition }) => [...definition.files.values()]);
    const uncounted = files.filter(({ sum }) => sum === undefined);
    this.#isCounted = uncounted.length === 0;
    return this.#isCounted ? undefined : Promise.all(uncounted.map(countFile));
  }

  /** Returns the entry of a skill for a principal. Requires the sizes and digests of all files. */
  show({ name: path, definition }: Entry<Skill>, principal: Principal | undefined): SkillEntry {
    const files = [...(this.#view().files.get(path)?.values() ?? [])];
    const seen = files.filter(({ skill }) => skill === definition || isGranted(skill.scopes, principal));
    const sums = seen.flatMap(({ uri, file: { sum } }) => (typeof sum === "object" ? { uri, ...sum } : []));
    const resources = sums.length < seen.length ? "dynamic" : sums;
    return { uri: uriOf(`${path}/SKILL.md`), frontmatter: definition.frontmatter, resources };
  }

  find(uri: string): FoundFile | undefined {
    return this.#view().byUri.get(uri);
  }

  /** Returns the skill by the URI of its `SKILL.md`. */
  findEntry(uri: string): Entry<Skill> | undefined {
    return this.#view().skills.get(uri);
  }

  /** Returns the content of a folder, or undefined if it does not exist. */
  folder(uri: string): ReadonlyMap<string, FoundFile | undefined> | undefined {
    return this.#view().folders.get(uri);
  }

  #view(): Overview {
    this.#overview ??= overview(this.#entries);
    return this.#overview;
  }

  #checkSizes(path: string): void {
    const { files } = this.#view();
    for (const outer of pathsAbove(path)) {
      const held = files.get(outer);
      const sources = [...(held?.values() ?? [])].map(({ file }) => file.source);
      checkSize(sources, `the skill "${outer}"`);
    }
  }
}

function overview(entries: ReadonlyMap<string, Entry<Skill>>): Overview {
  const byUri = new Map<string, FoundFile>();
  const files = new Map<string, Map<string, FoundFile>>();
  const folders = new Map<string, Map<string, FoundFile | undefined>>();
  // Inner skills come last, so that a file in several skills belongs to the innermost.
  for (const [path, { definition: skill }] of [...entries].toSorted(([a], [b]) => a.length - b.length)) {
    const outer = pathsAbove(path).filter((above) => entries.has(above));
    for (const above of outer) if (!files.has(above)) files.set(above, new Map());
    for (const [below, file] of skill.files) {
      const found = { uri: uriOf(`${path}/${below}`), name: below.split("/").at(-1)!, file, skill };
      byUri.set(found.uri, found);
      for (const above of outer) files.get(above)!.set(found.uri, found);
      addToFolders(folders, `${path}/${below}`, found);
    }
  }
  const skills = new Map([...entries].map(([path, entry]) => [uriOf(`${path}/SKILL.md`), entry]));
  return { byUri, skills, files, folders };
}

function addToFolders(folders: Map<string, Map<string, FoundFile | undefined>>, path: string, found: FoundFile): void {
  const [file, ...above] = pathsAbove(path);
  let child: [string, FoundFile | undefined] = [uriOf(file!), found];
  for (const folder of above) {
    const uri = uriOf(folder);
    const held = folders.get(uri) ?? new Map<string, FoundFile | undefined>();
    folders.set(uri, held.set(...child));
    child = [uri, undefined];
  }
}

/** Returns a path and the paths of the folders around it, innermost first. */
function pathsAbove(path: string): string[] {
  const parts = path.split("/");
  return parts.map((_, index) => parts.slice(0, parts.length - index).join("/"));
}

function checkPlace(path: string, skill: Skill): void {
  if (skill?.kind !== "skill") throw invalid(path, "make it with skill(...) of mcparley/skills");
  if (typeof path !== "string" || !isPlainPath(path)) throw invalid(path, "the path is invalid");
  const { name } = skill.frontmatter;
  if (path !== name && !path.endsWith(`/${name}`)) {
    throw invalid(path, `the last part of its path must be its name, "${name}"`);
  }
}

function invalid(path: string, reason: string): LocalError {
  return new LocalError("invalid_definition", `The skill ${JSON.stringify(path)} cannot be offered: ${reason}.`);
}
