import { realpath, stat } from "node:fs/promises";
import { join, relative, resolve, sep } from "node:path";
import { type Field, items, members, text, wrong } from "../yaml/yaml-fields.ts";

/** A folder whose files are served, under a name that stands for it in URIs. */
export interface ServedRoot {
  readonly name: string;
  /** Absolute, as it was given. */
  readonly path: string;
  /** Absolute, with every symbolic link followed. */
  readonly real: string;
}

/**
 * The real path of a file under a root, or undefined where the path leaves the root, by dots or by a symbolic link,
 * names what is hidden, or names nothing. Which of these it was is not told: a caller may only learn that nothing is
 * there (server/resources, Security Considerations).
 *
 * `path` is relative to the root, with `/` between its parts, percent-decoding done.
 */
export async function resolveInside(root: ServedRoot, path: string): Promise<string | undefined> {
  const parts = path.split("/");
  if (!parts.every(isPlainPart)) return undefined;
  const real = await realpath(resolve(root.real, ...parts)).catch(() => undefined);
  if (real === undefined) return undefined;
  const below = partsBelow(root.real, real);
  // A link that stays inside may still lead to what is hidden.
  return below !== undefined && below.length > 0 && below.every(isShown) ? real : undefined;
}

/**
 * The parts of `path` below `folder`, or undefined where it is not below. Both are absolute.
 *
 * Compared part by part, since as text `/srv/docs-private` begins with `/srv/docs`.
 */
export function partsBelow(folder: string, path: string): string[] | undefined {
  if (path === folder) return [];
  const parts = relative(folder, path).split(sep);
  // On Windows a path on another drive stays absolute.
  return parts[0] === ".." || resolve(folder, ...parts) !== path || /^[A-Za-z]:$/.test(parts[0]!) ? undefined : parts;
}

/** Whether a file or folder of this name is served: what is hidden, and installed packages, never are. */
export function isShown(name: string): boolean {
  return !name.startsWith(".") && name !== "node_modules";
}

function isPlainPart(part: string): boolean {
  if (part === "" || part.includes("\0") || !isShown(part)) return false;
  // On Windows a backslash separates, and a colon opens a drive or a hidden stream of the file.
  return sep === "/" || !/[\\:]/.test(part);
}

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
