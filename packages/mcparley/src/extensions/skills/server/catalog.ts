import { LocalError } from "../../../rpc/errors.ts";
import type { Principal } from "../../../server/core/context.ts";
import type { Entry } from "../../../server/core/registry.ts";
import { isGranted } from "../../../server/core/scopes.ts";
import { type SkillEntry, skillFile, isPlainPath, pathOf, quotePath, uriOf } from "../skill-entry.ts";
import { type PreparedFile, type Skill, checkSize, countFile } from "./skill.ts";
import { SkillTree } from "./skill-tree.ts";

/** A file by its URI, and the innermost skill that it belongs to. */
export interface FoundFile {
  readonly uri: string;
  readonly name: string;
  readonly file: PreparedFile;
  readonly skill: Skill;
}

/** Files by name, and subfolders as undefined. */
type FolderContent = Map<string, PreparedFile | undefined>;

/** Number of digests that are calculated at a time. Calls are answered between two batches. */
const batchSize = 32;

/** The skills of a server, by the paths of their folders. A change visits its own path only, not the other skills. */
export class Catalog {
  readonly #entries = new Map<string, Entry<Skill>>();
  readonly #tree = new SkillTree();
  /** The skills that may have files without a digest. */
  readonly #uncountedSkills = new Set<Skill>();
  readonly #scopedPaths = new Set<string>();
  #counting: Promise<void> | undefined;
  #position = 0;

  get size(): number {
    return this.#entries.size;
  }

  /** Whether any skill needs scopes. */
  get hasScopes(): boolean {
    return this.#scopedPaths.size > 0;
  }

  get(path: string): Skill | undefined {
    return this.#entries.get(path)?.definition;
  }

  entries(): Iterable<Entry<Skill>> {
    return this.#entries.values();
  }

  /** Adds a skill, or replaces the one at the path. If it throws `invalid_definition`, nothing has changed. */
  set(path: string, skill: Skill): void {
    const previous = this.#entries.get(path);
    checkPlace(path, skill);
    const entry = { name: path, definition: skill, position: previous?.position ?? this.#position };
    this.#tree.set(path, entry);
    try {
      this.#checkSizes(path);
    } catch (error) {
      this.#tree.set(path, previous);
      throw error;
    }
    this.#entries.set(path, entry);
    if (previous) this.#uncountedSkills.delete(previous.definition);
    else this.#position++;
    this.#uncountedSkills.add(skill);
    if (skill.scopes?.length) this.#scopedPaths.add(path);
    else this.#scopedPaths.delete(path);
  }

  delete(path: string): boolean {
    const previous = this.#entries.get(path);
    if (!previous) return false;
    this.#entries.delete(path);
    this.#tree.set(path, undefined);
    this.#uncountedSkills.delete(previous.definition);
    this.#scopedPaths.delete(path);
    return true;
  }

  /**
   * Calculates missing sizes and digests of the files of a skill and of the skills in its folder, or of all files. Returns
   * undefined if none is missing.
   */
  counting(entry?: Entry<Skill>): Promise<void> | undefined {
    if (this.#uncountedSkills.size === 0) return undefined;
    if (entry) {
      const files = [...this.#filesOf(entry.name).values()].map(({ file }) => file);
      return files.every(({ sum }) => sum) ? undefined : countFiles(files);
    }
    this.#counting ??= this.#countAll().finally(() => {
      this.#counting = undefined;
    });
    return this.#counting;
  }

  /** Returns the entry of a skill for a principal. Requires the sizes and digests of its files. */
  show({ name: path, definition }: Entry<Skill>, principal: Principal | undefined): SkillEntry {
    const files = [...this.#filesOf(path).values()];
    const visibleFiles = files.filter(({ skill }) => skill === definition || isGranted(skill.scopes, principal));
    const sums = visibleFiles.flatMap(({ uri, file: { sum } }) => (typeof sum === "object" ? { uri, ...sum } : []));
    const resources = sums.length < visibleFiles.length ? "dynamic" : sums;
    return { uri: uriOf(`${path}/${skillFile}`), frontmatter: definition.frontmatter, resources };
  }

  find(uri: string): FoundFile | undefined {
    const path = pathOf(uri);
    if (path === undefined) return undefined;
    for (const { entry, relativePath } of this.#tree.skillsAround(path)) {
      const file = entry.definition.files.get(relativePath);
      if (file) return foundFile(path, file, entry.definition);
    }
    return undefined;
  }

  /** Returns the `SKILL.md` of a skill. */
  manifest({ name, definition }: Entry<Skill>): FoundFile {
    return foundFile(`${name}/${skillFile}`, definition.files.get(skillFile)!, definition);
  }

  /** Returns the skill by the URI of its `SKILL.md`. */
  findEntry(uri: string): Entry<Skill> | undefined {
    const path = pathOf(uri);
    return path?.endsWith(`/${skillFile}`) ? this.#entries.get(path.slice(0, -skillFile.length - 1)) : undefined;
  }

  /** Returns the content of a folder by URI: files, and subfolders as undefined. Empty if the folder does not exist. */
  folder(uri: string): ReadonlyMap<string, FoundFile | undefined> {
    const children = new Map<string, FoundFile | undefined>();
    const path = pathOf(uri);
    if (path === undefined) return children;
    // Outermost first, so that a file in several skills belongs to the innermost one.
    for (const { entry, relativePath } of this.#tree.skillsAround(path).toReversed()) {
      for (const [name, file] of contentOf(entry.definition).get(relativePath) ?? []) {
        const child = `${path}/${name}`;
        children.set(uriOf(child), file && foundFile(child, file, entry.definition));
      }
    }
    for (const name of this.#tree.folderNames(path)) children.set(uriOf(`${path}/${name}`), undefined);
    return children;
  }

  /** Returns the files of a skill by path, and the files of the skills in its folder. */
  #filesOf(path: string): Map<string, FoundFile> {
    const files = new Map<string, FoundFile>();
    for (const { name, definition } of this.#tree.skillsIn(path)) {
      for (const [relativePath, file] of definition.files) {
        const fullPath = `${name}/${relativePath}`;
        files.set(fullPath, foundFile(fullPath, file, definition));
      }
    }
    return files;
  }

  /** Checks the limits of the skills around a path, which include the files of the skill at the path. */
  #checkSizes(path: string): void {
    for (const { entry } of this.#tree.skillsAround(path)) {
      const files = [...this.#filesOf(entry.name).values()].map(({ file }) => file);
      checkSize(files, `the skill "${entry.name}"`);
    }
  }

  async #countAll(): Promise<void> {
    for (const skill of this.#uncountedSkills) {
      await countFiles([...skill.files.values()]);
      this.#uncountedSkills.delete(skill);
    }
  }
}

async function countFiles(files: readonly PreparedFile[]): Promise<void> {
  const newFiles = files.filter(({ sum }) => sum === undefined);
  for (let start = 0; start < newFiles.length; start += batchSize) {
    await Promise.all(newFiles.slice(start, start + batchSize).map(countFile));
  }
}

function foundFile(path: string, file: PreparedFile, skill: Skill): FoundFile {
  return { uri: uriOf(path), name: path.slice(path.lastIndexOf("/") + 1), file, skill };
}

const contents = new WeakMap<Skill, Map<string, FolderContent>>();

/** Returns the content of each folder of a skill, by its path below the skill. Built when a folder is first read. */
function contentOf(skill: Skill): ReadonlyMap<string, FolderContent> {
  const existing = contents.get(skill);
  if (existing) return existing;
  const folders = new Map<string, FolderContent>();
  for (const [path, file] of skill.files) {
    let child: PreparedFile | undefined = file;
    for (let childPath = path; childPath !== "";) {
      const end = childPath.lastIndexOf("/");
      const folder = end === -1 ? "" : childPath.slice(0, end);
      const content = folders.get(folder) ?? new Map<string, PreparedFile | undefined>();
      folders.set(folder, content.set(childPath.slice(end + 1), child));
      child = undefined;
      childPath = folder;
    }
  }
  contents.set(skill, folders);
  return folders;
}

function checkPlace(path: string, skill: Skill): void {
  if (skill?.kind !== "skill") throw invalid(path, "create it with skill(...) from mcparley/skills");
  if (typeof path !== "string" || !isPlainPath(path)) throw invalid(path, "the path is invalid");
  const { name } = skill.frontmatter;
  if (path !== name && !path.endsWith(`/${name}`)) {
    throw invalid(path, `the last part of its path must be its name, "${name}"`);
  }
}

function invalid(path: string, reason: string): LocalError {
  return new LocalError("invalid_definition", `The skill ${quotePath(path)} cannot be offered: ${reason}.`);
}
