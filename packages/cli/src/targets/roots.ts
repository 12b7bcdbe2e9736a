import { statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Root } from "mcparley/client";
import { type CommandIo, UsageError } from "../terminal/io.ts";

/** Returns a folder as a root. Throws `UsageError` for a path that is not a folder, which names the option `--root` if it was typed. */
export function readRoot(folder: string, { cwd }: Pick<CommandIo, "cwd">, isOption = false): Root {
  const path = resolve(cwd, folder);
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isDirectory()) return { uri: pathToFileURL(path).href, name: basename(path) || path };
  throw new UsageError(
    `${isOption ? "--root " : ""}${folder} ${stats ? "is a file, not a folder" : "does not exist"}.`,
    isOption ? "Name a folder, such as --root . for this one." : "Name a folder, such as . for this one.",
  );
}
