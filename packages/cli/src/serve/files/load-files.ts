import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { decodeText } from "./file-types.ts";
import { isShown } from "./inside-folder.ts";
import { FolderProblem, type Loaded, type Problem, orProblem, problemAt } from "../yaml/problem.ts";

/** Loads files in order. A file with a problem is reported and skipped. */
export async function loadEach<D>(
  files: readonly string[],
  report: (problem: Problem) => void,
  load: (file: string) => Promise<Loaded<D>[]>,
): Promise<Loaded<D>[]> {
  const entries: Loaded<D>[] = [];
  for (const file of files) {
    try {
      entries.push(...((await orProblem(() => load(file), report)) ?? []));
    } catch (error) {
      // An unexpected error in one file must not affect the other files.
      const message = `the file cannot be loaded: ${error instanceof Error ? error.message : String(error)}`;
      report({ file, line: 1, message, cure: "This may be a defect of mcparley: please report it with the file." });
    }
  }
  return entries;
}

/** Returns the files below a sub-folder, by path. Skips names that start with `_`, tests and type declarations. */
export async function listFiles(folder: string, sub: string, pattern: RegExp): Promise<string[]> {
  const entries = await readdir(join(folder, sub), { withFileTypes: true }).catch(() => []);
  const files: string[] = [];
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    if (!isShown(entry.name) || entry.name.startsWith("_")) continue;
    const path = `${sub}/${entry.name}`;
    if (entry.isDirectory()) files.push(...(await listFiles(folder, path, pattern)));
    else if (entry.isFile() && pattern.test(entry.name) && !/\.(?:test|spec|d)\.[cm]?[jt]s$/.test(entry.name))
      files.push(path);
  }
  return files;
}

/** Returns the text of a file in the folder. Throws `FolderProblem` if the file cannot be read, or is not text. */
export async function readText(folder: string, file: string): Promise<string> {
  let bytes: Buffer;
  try {
    bytes = await readFile(join(folder, file));
  } catch (cause) {
    const cure = "Check that this process may read it.";
    throw new FolderProblem({ file, line: 1, message: "the file cannot be read", cure }, { cause });
  }
  const text = decodeText(bytes);
  if (text !== undefined) return text;
  const cure = "Save it as UTF-8, or move it to resources/ if it is not text.";
  throw problemAt({ file, line: lineOfNoText(bytes) }, "the file is not UTF-8 text", cure);
}

/** Returns the number of the first line that is not UTF-8 text. */
function lineOfNoText(bytes: Buffer): number {
  let line = 1;
  for (let start = 0; start < bytes.length; line++) {
    const end = bytes.indexOf(0x0a, start);
    const stop = end === -1 ? bytes.length : end;
    if (decodeText(bytes.subarray(start, stop)) === undefined) return line;
    start = stop + 1;
  }
  return 1;
}
