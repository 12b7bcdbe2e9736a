import { relative, sep } from "node:path";
import { type FSWatcher, watch } from "chokidar";
import { isShown } from "./files/inside-folder.ts";
import type { LiveFolder } from "./live-folder.ts";

export interface FolderWatch {
  /** Settles once every change from here on will be seen. */
  readonly ready: Promise<void>;
  close(): Promise<void>;
}

export interface WatchOptions {
  /** Called after each time the folder was read again. */
  onReload?: (changed: readonly string[]) => void;
  /** Told of what could not be watched or read; the watch goes on. */
  onError?: (error: unknown) => void;
}

/**
 * Reads the folder again whenever a file in it, or in another of its roots, changes.
 *
 * What changes while it is read is read together afterwards: the server is behind by one reading at most, however many
 * files change. A file counts as changed once it has stopped growing, so that one half written is not read.
 */
export function watchFolder(live: LiveFolder, { onReload, onError }: WatchOptions = {}): FolderWatch {
  const roots = live.contents.settings.roots.map(({ path }) => path);
  const watched = [live.folder, ...roots.filter((path) => relative(live.folder, path).startsWith(".."))];
  const watcher: FSWatcher = watch(watched, {
    ignoreInitial: true,
    // A link may lead out of the folder, or round in a circle; what it leads to inside is watched where it is.
    followSymlinks: false,
    ignored: (path) => isIgnored(path, watched),
    awaitWriteFinish: { stabilityThreshold: 40, pollInterval: 10 },
  });
  let changed = new Set<string>();
  let reading: Promise<void> | undefined;

  async function read(): Promise<void> {
    while (changed.size > 0) {
      const batch = [...changed];
      changed = new Set();
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
    changed.add(relative(live.folder, path).split(sep).join("/"));
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

/** What is hidden is not served, and so not watched; below the roots only, whatever the folders above are called. */
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
