import type { Entry } from "../../../server/core/registry.ts";
import type { Skill } from "./skill.ts";

/** A folder of the tree: a skill, a folder with skills in it, or both. */
interface Folder {
  entry: Entry<Skill> | undefined;
  readonly folders: Map<string, Folder>;
}

/** A skill, and a path relative to its folder. */
interface PathInSkill {
  readonly entry: Entry<Skill>;
  readonly relativePath: string;
}

/**
 * The skills by their paths. Each operation visits the folders of one path, or one folder with everything in it, and not
 * the other skills.
 */
export class SkillTree {
  readonly #root: Folder = emptyFolder();

  /** Sets the skill of a path, or removes it. */
  set(path: string, entry: Entry<Skill> | undefined): void {
    const names = path.split("/");
    const folders = [this.#root];
    for (const name of names) {
      const parent = folders.at(-1)!;
      const folder = parent.folders.get(name) ?? emptyFolder();
      parent.folders.set(name, folder);
      folders.push(folder);
    }
    folders.at(-1)!.entry = entry;
    // Folders that became empty are removed.
    for (let depth = names.length; depth > 0; depth--) {
      const { entry: currentEntry, folders: subfolders } = folders[depth]!;
      if (currentEntry || subfolders.size > 0) return;
      folders[depth - 1]!.folders.delete(names[depth - 1]!);
    }
  }

  /** Returns the skills whose folders contain a path, innermost first. A skill contains its own path. */
  skillsAround(path: string): PathInSkill[] {
    const names = path.split("/");
    const skills: PathInSkill[] = [];
    let folder = this.#root.folders.get(names[0]!);
    for (let depth = 1; folder; depth++) {
      if (folder.entry) skills.push({ entry: folder.entry, relativePath: names.slice(depth).join("/") });
      folder = depth < names.length ? folder.folders.get(names[depth]!) : undefined;
    }
    return skills.toReversed();
  }

  /** Returns the skills at a path and in its folder. An inner skill comes after the skills that contain it. */
  skillsIn(path: string): Entry<Skill>[] {
    const entries: Entry<Skill>[] = [];
    const visit = ({ entry, folders }: Folder): void => {
      if (entry) entries.push(entry);
      for (const folder of folders.values()) visit(folder);
    };
    const folder = this.#folder(path);
    if (folder) visit(folder);
    return entries;
  }

  /** Returns the names of the folders in a path that are skills or contain skills. */
  folderNames(path: string): Iterable<string> {
    return this.#folder(path)?.folders.keys() ?? [];
  }

  #folder(path: string): Folder | undefined {
    let folder: Folder | undefined = this.#root;
    for (const name of path.split("/")) folder = folder?.folders.get(name);
    return folder;
  }
}

function emptyFolder(): Folder {
  return { entry: undefined, folders: new Map() };
}
