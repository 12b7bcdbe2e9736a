import { realpathSync } from "node:fs";
import { dirname, isAbsolute, relative, resolve, sep } from "node:path";
import type { ConfiguredServer, ServerTarget } from "../model.ts";
import { referencesIn } from "../target-references.ts";
import { type ConfigValue, type Reference, formatValue, partsOf } from "../values.ts";
import { readTrustedFile } from "./trusted-file.ts";

/** A file to which an entry refers. It is read once, so that its value is the one that the identity of the entry has. */
interface ReferencedFile {
  /** The content without white space at its ends. Undefined if there is no such file. */
  readonly text: string | undefined;
  /** The path without symbolic links. */
  readonly path: string;
  /** Whether the file is in the folder of the entry. Its content is then a part of the entry, because the same people write it. */
  readonly isOfFolder: boolean;
}

/** The files to which an entry refers, by the path in the reference. */
export type ReferencedFiles = ReadonlyMap<string, ReferencedFile>;

/** Reads the files to which the target of a server refers. A path is relative to the configuration file. */
export function readReferencedFiles(
  { file, folder }: ConfiguredServer,
  target: ServerTarget,
  home: string,
): ReferencedFiles {
  const paths = referencesIn(target).flatMap((reference) => (reference.kind === "file" ? [reference.path] : []));
  const read = (path: string): ReferencedFile => {
    const place = path.startsWith("~/") ? resolve(home, path.slice(2)) : resolve(dirname(file), path);
    const realPath = withoutLinks(place);
    const isOfFolder = folder !== undefined && isWithin(withoutLinks(folder), realPath);
    return { text: readTrustedFile(place)?.trim(), path: realPath, isOfFolder };
  };
  return new Map(paths.map((path) => [path, read(path)]));
}

/** Returns a value as `formatValue` does, with the content of files that are a part of the entry. */
export function formatEntryValue(value: ConfigValue, files: ReferencedFiles): string {
  const format = (part: string | Reference): string => {
    const file = typeof part === "object" && part.kind === "file" ? files.get(part.path) : undefined;
    return file?.isOfFolder ? (file.text ?? "") : formatValue([part]);
  };
  return partsOf(value).map(format).join("");
}

/** Whether a file is in a folder. Neither path has symbolic links. */
export function isWithin(folder: string, file: string): boolean {
  const path = relative(folder, file);
  // Another drive of Windows has no relative path.
  return path !== ".." && !path.startsWith(`..${sep}`) && !isAbsolute(path);
}

/** Returns a path without symbolic links, with the letters that the file system has. A path that does not exist stays. */
export function withoutLinks(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
