import { realpath, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { ServedRoot } from "./inside-folder.ts";
import { type Field, items, members, text, wrong } from "./yaml-fields.ts";

/** The root of the files in `resources/`; undefined where there is no such folder. */
export function resourcesRoot(folder: string): Promise<ServedRoot | undefined> {
  return servedRoot("resources", join(folder, "resources"));
}

/** The root of the skills; undefined where there is no folder `skills/`. */
export function skillsRoot(folder: string): Promise<ServedRoot | undefined> {
  return servedRoot("skills", join(folder, "skills"));
}

/** Reads `roots`: more folders to serve, each with the name that stands for it in URIs. */
export async function readRoots(field: Field, folder: string): Promise<ServedRoot[]> {
  const roots: ServedRoot[] = [];
  const names = new Set(["resources"]);
  for (const item of items(field)) {
    const keys = members(item, ["name", "path"]);
    const [nameField, pathField] = [keys.get("name"), keys.get("path")];
    if (!nameField || !pathField) {
      throw wrong(
        item,
        "a root needs a name and a path",
        "Write `- name: runbooks` with `path: ../runbooks` below it.",
      );
    }
    const name = text(nameField);
    if (!/^[a-z][a-z0-9-]{0,62}$/.test(name)) {
      throw wrong(
        nameField,
        `"${name}" cannot name a root`,
        "Use small letters, digits and hyphens: it is part of URIs.",
      );
    }
    if (names.has(name)) throw wrong(nameField, `two roots are called "${name}"`, "Give each root a name of its own.");
    names.add(name);
    const root = await servedRoot(name, resolve(folder, text(pathField)));
    if (!root) throw wrong(pathField, `there is no folder ${text(pathField)}`, "Give a path relative to this file.");
    roots.push(root);
  }
  return roots;
}

async function servedRoot(name: string, path: string): Promise<ServedRoot | undefined> {
  try {
    const real = await realpath(path);
    return (await stat(real)).isDirectory() ? { name, path, real } : undefined;
  } catch {
    return undefined;
  }
}
