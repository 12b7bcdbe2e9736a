import { resolve } from "node:path";
import { printableJson } from "mcparley";
import { type Store, auditTo } from "mcparley/server";
import type { CommandIo } from "../terminal/io.ts";
import { type LiveFolder, openFolder } from "./live-folder.ts";
import type { ServeOptions } from "./serve-options.ts";
import { settingsFile } from "./settings/server-settings.ts";
import type { FolderWatch } from "./watch.ts";
import { FolderProblem, type ProblemReport, formatProblem } from "./yaml/problem.ts";

/** The folder that a process serves, and the streams and the terminal of the command. */
export interface Serving {
  options: ServeOptions;
  io: CommandIo;
  tell: (line: string) => void;
  /** Whether this process writes messages about the folder. If several processes serve it, only one does. */
  isFirst: boolean;
  /** The store of `--workers`. `--store` has precedence. */
  store?: Store;
}

/** Reads the folder, and creates its server. */
export function readFolder({ options, io, tell, isFirst, store }: Serving): Promise<LiveFolder> {
  return openFolder(resolve(io.cwd, options.folder), {
    env: { ...io.env },
    watch: options.watch,
    hasScopes: !options.stdio,
    ...(options.name !== undefined && { name: options.name }),
    ...(isFirst && { onProgress: (files) => tell(`Reading ${options.folder}: ${files} files so far`) }),
    ...(options.audit && { observers: [auditTo((record) => tell(printableJson(record)))] }),
    ...(store && { store }),
    onError: (error, what) => tell(`${what}: ${describeError(error)}`),
  });
}

/** Reads the folder again when it changes. */
export async function startWatch(
  live: LiveFolder,
  report: ProblemReport,
  tell: (line: string) => void,
): Promise<FolderWatch> {
  const { watchFolder } = await import("./watch.ts");
  return watchFolder(live, {
    onReload: (changedFiles) => {
      report.update(live.problems);
      if (changedFiles.includes(settingsFile))
        tell(`${settingsFile} changed: new roots apply now, all other settings at the next start.`);
    },
    onError: (error) => tell(`The folder could not be read again: ${describeError(error)}`),
  });
}

/** Describes an error in a handler for the folder's owner: a position in a file, or the error with its stack. */
function describeError(error: unknown): string {
  if (error instanceof FolderProblem) return formatProblem(error.problem);
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
