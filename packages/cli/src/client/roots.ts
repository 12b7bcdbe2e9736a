import { statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Root } from "mcparley/client";
import { type CommandIo, UsageError } from "./io.ts";

/** Returns the folders of `--root` as roots. Throws `UsageError` for one that is not a folder. */
export function readRoots(folders: readonly string[], { cwd }: Pick<CommandIo, "cwd">): readonly Root[] {
  return folders.map((folder) => {
    const path = resolve(cwd, folder);
    const found = statSync(path, { throwIfNoEntry: false });
    if (!found?.isDirectory()) {
      const what = found ? "is a file, not a folder" : "does not exist";
      throw new UsageError(`--root ${folder} ${what}.`, "Name a folder, such as --root . for this one.");
    }
    return { uri: pathToFileURL(path).href, name: basename(path) || path };
  });
}
