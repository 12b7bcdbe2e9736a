import { readdir, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { looksLikeText, mimeTypeOf } from "../files/file-types.ts";
import { type ServedRoot, isDeceptive, isShown, partsBelow } from "../files/inside-folder.ts";
import { readBeginning } from "../files/read-contents.ts";
import type { Problem } from "../yaml/problem.ts";

/** A served file, as of the last reading. */
export interface ResourceFile {
  readonly root: ServedRoot;
  /** Relative to the root, with `/` between its parts. */
  readonly path: string;
  readonly size: number;
  /** ISO 8601. */
  readonly lastModified: string;
  readonly mimeType: string;
  /** Its first heading. Undefined for other types than Markdown, and without a heading. */
  readonly heading: string | undefined;
  /** Changes when the file changes, if the file is settled. */
  readonly stamp: string;
  /**
   * Whether the file was last changed long enough before this reading. The clocks of file systems are coarse: a change
   * shortly after another one can leave the same stamp.
   */
  readonly isSettled: boolean;
}

interface FoundFiles {
  files: ResourceFile[];
  /** The number of files, and the first one over the limit, if there are more than the limit. */
  more: { total: number; first: string } | undefined;
  /** The problems of files and folders whose names cannot be served. */
  problems: Problem[];
}

interface Finding {
  /** The files of the last reading. */
  readonly previousFiles?: ReadonlyMap<string, ResourceFile>;
  /** Called after each 2,000 files. */
  readonly onProgress?: ((files: number) => void) | undefined;
}

const progressStep = 2_000;

/**
 * Lists the files of the roots, at most `limit` of them, ordered by path.
 *
 * An unchanged file is taken from `known`, so only new and changed files are opened. A symbolic link is followed if it
 * stays inside its root.
 */
export async function findResourceFiles(
  roots: readonly ServedRoot[],
  limit: number,
  { previousFiles = new Map(), onProgress }: Finding = {},
): Promise<FoundFiles> {
  const result: FoundFiles = { files: [], more: undefined, problems: [] };
  const skip = (root: ServedRoot, path: string): void =>
    void result.problems.push(deceptiveName(nameOf({ root, path })));
  for (const root of roots) {
    for await (const path of walk(root, { real: root.real, prefix: "", outerFolders: [] }, skip)) {
      if (result.files.length >= limit) {
        result.more ??= { total: limit, first: nameOf({ root, path }) };
        result.more.total++;
        continue;
      }
      const file = await describe(root, path, previousFiles);
      if (!file) continue;
      result.files.push(file);
      if (result.files.length % progressStep === 0) onProgress?.(result.files.length);
    }
  }
  return result;
}

/** Returns a name for a file that is unique among all roots. */
export function nameOf({ root, path }: Pick<ResourceFile, "root" | "path">): string {
  return `${root.name}/${path}`;
}

function deceptiveName(file: string): Problem {
  const message = "the name has a control character, a direction mark or invalid UTF-8, and is not served";
  return { file, line: 1, message, cure: "Rename it." };
}

interface Folder {
  real: string;
  /** Its path from the root, with a `/` at its end; empty for the root. */
  prefix: string;
  /** The real paths of the folders that contain it. */
  outerFolders: readonly string[];
}

/** Yields the paths of the files in a folder, by name. A link to a containing folder is not followed. */
async function* walk(
  root: ServedRoot,
  { real, prefix, outerFolders }: Folder,
  skip: (root: ServedRoot, path: string) => void,
): AsyncGenerator<string> {
  if (outerFolders.includes(real)) return;
  const entries = await readdir(real, { withFileTypes: true }).catch(() => []);
  const innerFolders = [...outerFolders, real];
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    const path = prefix + entry.name;
    if (isDeceptive(entry.name) && !entry.name.startsWith(".")) skip(root, path);
    if (!isShown(entry.name)) continue;
    if (entry.isFile()) yield path;
    else if (entry.isDirectory())
      yield* walk(root, { real: join(real, entry.name), prefix: `${path}/`, outerFolders: innerFolders }, skip);
    else if (entry.isSymbolicLink()) {
      const target = await insideTarget(root, join(real, entry.name));
      if (target?.isDirectory)
        yield* walk(root, { real: target.path, prefix: `${path}/`, outerFolders: innerFolders }, skip);
      else if (target) yield path;
    }
  }
}

async function insideTarget(
  root: ServedRoot,
  link: string,
): Promise<{ path: string; isDirectory: boolean } | undefined> {
  try {
    const path = await realpath(link);
    const innerParts = partsBelow(root.real, path);
    if (!innerParts?.every(isShown)) return undefined;
    const target = await stat(path);
    return target.isDirectory() || target.isFile() ? { path, isDirectory: target.isDirectory() } : undefined;
  } catch {
    return undefined;
  }
}

/** Milliseconds between two ticks of the coarsest clock of a file system: FAT. */
const coarsestClock = 2_000;

async function describe(
  root: ServedRoot,
  path: string,
  previousFiles: ReadonlyMap<string, ResourceFile>,
): Promise<ResourceFile | undefined> {
  const real = join(root.real, path);
  const now = Date.now();
  const stats = await stat(real).catch(() => undefined);
  // The file was deleted after the listing.
  if (!stats) return undefined;
  // Programs that keep the modification time, such as rsync, cannot keep the change time.
  const stamp = `${stats.size} ${stats.mtimeMs} ${stats.ctimeMs} ${stats.ino}`;
  const previousFile = previousFiles.get(nameOf({ root, path }));
  if (previousFile?.stamp === stamp && previousFile.isSettled) return previousFile;
  const isSettled = now - stats.ctimeMs > coarsestClock;
  const beginning = await readBeginning(real, 4096).catch(() => Buffer.alloc(0));
  const mimeType = mimeTypeOf(path, () => looksLikeText(beginning));
  const heading = mimeType === "text/markdown" ? firstHeading(beginning.toString("utf8")) : undefined;
  return { root, path, size: stats.size, lastModified: stats.mtime.toISOString(), mimeType, heading, stamp, isSettled };
}

function firstHeading(markdown: string): string | undefined {
  const text = markdown.replace(/^---\r?\n[\s\S]*?\r?\n---\r?\n/, "");
  return /(?:^|\n)#[ \t]+(\S[^\r\n]*)/.exec(text)?.[1]?.replace(/[ \t]+#*\s*$/, "");
}

/** Schemes that have a meaning for clients. A server with such a name uses the scheme `NAME-folder`. */
const reservedSchemes = new Set(
  "http https ws wss ftp file data blob about javascript mailto urn ui git ssh vscode mcp skill resource".split(" "),
);

/**
 * Returns the URI scheme of a server's resources: its name, without the characters that a scheme cannot contain (RFC
 * 3986, 3.1).
 */
export function schemeOf(serverName: string): string {
  const slug = serverName
    .toLowerCase()
    .replaceAll(/[^a-z0-9+.-]+/g, "-")
    .replaceAll(/^[^a-z]+|-+$/g, "");
  if (slug === "") return "folder";
  return reservedSchemes.has(slug) ? `${slug}-folder` : slug;
}

/**
 * Returns the URI of a file: `handbook://resources/on%20call.md`.
 *
 * The root is the authority of the URI. It is lower case and never empty, so clients that normalize the URI do not
 * change it. The URI does not reveal the folder's path on this machine.
 */
export function uriOf(scheme: string, root: string, path: string): string {
  return `${scheme}://${root}/${path.split("/").map(encodeURIComponent).join("/")}`;
}

/** Returns the template that all files of a root match. */
export function templateOf(scheme: string, root: string): string {
  return `${scheme}://${root}/{+path}`;
}
