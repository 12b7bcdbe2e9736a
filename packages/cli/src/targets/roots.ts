import { statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Root } from "mcparley/client";
import { type CommandIo, UsageError } from "../terminal/io.ts";

/** Returns a folder as a root. Throws `UsageError` for a path that is not a folder. `option` stands before the folder in its texts. */
export function readRoot(folder: string, { cwd }: Pick<CommandIo, "cwd">, option = ""): Root {
  const path = resolve(cwd, folder);
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found?.isDirectory()) {
    throw new UsageError(
      `${option}${folder} ${found ? "is a file, not a folder" : "does not exist"}.`,
      `Name a folder, such as ${option}. for this one.`,
    );
  }
  return { uri: pathToFileURL(path).href, name: basename(path) || path };
}
