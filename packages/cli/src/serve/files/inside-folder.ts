import { realpath, stat } from "node:fs/promises";
import { join, relative, resolve, sep } from "node:path";
import { type Field, items, readMembers, text, unread, wrong } from "../yaml/yaml-fields.ts";

/** A folder of served files, with the name that represents it in URIs. */
export interface ServedRoot {
  readonly name: string;
  /** Absolute, as it was given. */
  readonly path: string;
  /** Absolute, with every symbolic link followed. */
  readonly real: string;
}

/**
 * Returns the real path of a file under a root, or undefined if the file is not served.
 *
 * A path is rejected if it leaves the root (by dots or by a symbolic link), names a hidden file or does not exist. The
 * caller cannot distinguish these cases (server/resources, Security Considerations).
 *
 * `path` is relative to the root, percent-decoded, with `/` between its parts.
 */
export async function resolveInside(root: ServedRoot, path: string): Promise<string | undefined> {
  const parts = path.split("/");
  if (!parts.every(isPlainPart)) return undefined;
  const real = await realpath(resolve(root.real, ...parts)).catch(() => undefined);
  if (real === undefined) return undefined;
  const innerParts = partsBelow(root.real, real);
  // A link inside the root may still lead to a hidden file.
  return innerParts !== undefined && innerParts.length > 0 && innerParts.every(isShown) ? real : undefined;
}

/**
 * Returns the parts of `path` below `folder`, or undefined if `path` is not below it. Both are absolute.
 *
 * The comparison is by parts, because the text `/srv/docs-private` starts with `/srv/docs`.
 */
export function partsBelow(folder: string, path: string): string[] | undefined {
  if (path === folder) return [];
  const parts = relative(folder, path).split(sep);
  // On Windows a path on another drive stays absolute.
  return parts[0] === ".." || resolve(folder, ...parts) !== path || /^[A-Za-z]:$/.test(parts[0]!) ? undefined : parts;
}

/** Returns whether a file or folder of this name is served. Hidden files and installed packages never are. */
export function isShown(name: string): boolean {
  return !name.startsWith(".") && name !== "node_modules" && !isDeceptive(name);
}

/**
 * Returns whether a name can look like another one: it has control characters or characters that change the direction of
 * text, or it is not valid UTF-8.
 */
export function isDeceptive(name: string): boolean {
  return /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\p{Cs}\uFEFF\uFFFD]/u.test(name);
}

function isPlainPart(part: string): boolean {
  if (part === "" || part.includes("\0") || !isShown(part)) return false;
  // On Windows a backslash is a separator, and a colon marks a drive or an alternate data stream.
  return sep === "/" || !/[\\:]/.test(part);
}

/** Returns the root of `resources/`, or undefined if the folder does not exist. */
export function resourcesRoot(folder: string): Promise<ServedRoot | undefined> {
  return servedRoot("resources", join(folder, "resources"));
}

/** Returns the root of `skills/`, or undefined if the folder does not exist. */
export function skillsRoot(folder: string): Promise<ServedRoot | undefined> {
  return servedRoot("skills", join(folder, "skills"));
}

/** Reads `roots`: additional folders to serve, each with its name in URIs. */
export async function readRoots(field: Field, folder: string): Promise<ServedRoot[]> {
  const roots: ServedRoot[] = [];
  const names = new Set(["resources"]);
  for (const item of items(field)) {
    const { name: nameField, path: pathField } = readMembers(item, { name: unread, path: unread });
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
        `"${name}" is not a valid name for a root`,
        "Use lower-case letters, digits and hyphens, because the name is part of URIs.",
      );
    }
    if (names.has(name)) throw wrong(nameField, `two roots are called "${name}"`, "Give each root a different name.");
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
