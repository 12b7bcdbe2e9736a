import { relative, sep } from "node:path";
import { type FSWatcher, watch } from "chokidar";
import { isShown } from "./files/inside-folder.ts";
import type { LiveFolder } from "./live-folder.ts";

export interface FolderWatch {
  /** Resolves when the watch is active: all later changes are detected. */
  readonly ready: Promise<void>;
  close(): Promise<void>;
}

export interface WatchOptions {
  /** Called after each new reading of the folder. */
  onReload?: (changedFiles: readonly string[]) => void;
  /** Called if a file cannot be watched or the folder cannot be read. The watch continues. */
  onError?: (error: unknown) => void;
}

/**
 * Reads the folder again when a file in it, or in another of its roots, changes.
 *
 * Changes during a reading are collected and read together afterwards, so the server is at most one reading behind. A
 * file counts as changed when it has stopped growing, so a partly written file is not read.
 */
export function watchFolder(live: LiveFolder, { onReload, onError }: WatchOptions = {}): FolderWatch {
  const roots = live.contents.settings.roots.map(({ path }) => path);
  const watchedFolders = [live.folder, ...roots.filter((path) => relative(live.folder, path).startsWith(".."))];
  const watcher: FSWatcher = watch(watchedFolders, {
    ignoreInitial: true,
    // A link may leave the folder or form a cycle. A link target inside the folder is watched at its own path.
    followSymlinks: false,
    ignored: (path) => isIgnored(path, watchedFolders),
    awaitWriteFinish: { stabilityThreshold: 40, pollInterval: 10 },
  });
  let changedFiles = new Set<string>();
  let reading: Promise<void> | undefined;

  async function read(): Promise<void> {
    while (changedFiles.size > 0) {
      const batch = [...changedFiles];
      changedFiles = new Set();
      try {
        await live.reload(batch);
        onReload?.(batch);
      } catch (error) {
        onError?.(error);
      }
    }
    reading = undefined;
  }

  watcher.on("all", (_, path) => {
    changedFiles.add(relative(live.folder, path).split(sep).join("/"));
    reading ??= read();
  });
  watcher.on("error", (error) => onError?.(error));
  return {
    ready: new Promise((resolve) => watcher.once("ready", resolve)),
    async close() {
      await watcher.close();
      await reading;
    },
  };
}

/**
 * Returns whether a path below the roots is hidden. Hidden files are not served. The folders above a root may have any
 * name.
 */
function isIgnored(path: string, roots: readonly string[]): boolean {
  const root = roots.find((candidate) => path === candidate || path.startsWith(candidate + sep));
  return (
    root !== undefined &&
    path !== root &&
    !path
      .slice(root.length + 1)
      .split(sep)
      .every(isShown)
  );
}
