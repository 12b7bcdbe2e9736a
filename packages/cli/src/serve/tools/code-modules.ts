import { createRequire } from "node:module";
import { join, sep } from "node:path";
import type { Jiti } from "jiti";
import * as mcparley from "mcparley";
import * as server from "mcparley/server";
import { quotedWord } from "../../terminal/quoted-word.ts";
import { FolderProblem, type Problem } from "../yaml/problem.ts";

/** Loads the folder's TypeScript and JavaScript, without a build step. */
export interface CodeModules {
  /** Runs a module and returns its exports. `file` is relative to the folder. Throws `FolderProblem`. */
  load(file: string): Promise<Record<string, unknown>>;
  /** Clears the cache of loaded modules, so that edited files are read again. */
  forget(): void;
}

export const codeFile: RegExp = /\.(?:[cm]?[jt]s|tsx)$/;

const require: NodeJS.Require = createRequire(import.meta.url);

/**
 * Creates a loader for the modules in a folder.
 *
 * `mcparley` and `mcparley/server` always resolve to the copies of this process, even if the folder has no
 * `node_modules`. A `ToolError` of a second copy would not be recognized here.
 */
export function codeModules(folder: string, options: { timeLimit?: number } = {}): CodeModules {
  const { timeLimit = 10_000 } = options;
  let jiti: Promise<Jiti> | undefined;
  return {
    async load(file) {
      const path = join(folder, file);
      try {
        jiti ??= makeJiti(folder);
        const loader = await jiti;
        return await withTimeLimit(timeLimit, loader.import<Record<string, unknown>>(path));
      } catch (error) {
        throw moduleProblem(error, { file, path, folder });
      }
    },
    forget() {
      for (const path of Object.keys(require.cache)) {
        if (path.startsWith(folder + sep) && !path.includes(`${sep}node_modules${sep}`)) delete require.cache[path];
      }
    },
  };
}

/** Loads the compiler lazily, because it is large and only folders with code need it. */
async function makeJiti(folder: string): Promise<Jiti> {
  const { createJiti } = await import("jiti");
  return createJiti(join(folder, "server.yaml"), {
    virtualModules: { mcparley, "mcparley/server": server },
    // A cache on disk would write into the folder or its node_modules.
    fsCache: false,
    interopDefault: false,
    // Modules share the cache of `require`, so that two tools share the state of a third module.
    moduleCache: true,
  });
}

async function withTimeLimit<T>(ms: number, loading: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it did not finish loading within ${ms / 1000} s`)), ms);
  });
  try {
    return await Promise.race([loading, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Converts an error of a module to a problem. */
function moduleProblem(
  error: unknown,
  { file, path, folder }: { file: string; path: string; folder: string },
): FolderProblem {
  const { name, message, stack } = asError(error);
  const first = message.split("\n")[0]!.replaceAll(path, file).trim();
  const missing = /Cannot find (?:module|package) '([^']+)'/.exec(message)?.[1];
  const place = findPlace(`${message}\n${stack}`, folder) ?? { file, line: 1 };
  // Only compiler errors have the columns of the file. The code that runs is compiled to longer lines.
  const { column, ...lineOnly } = place;
  return new FolderProblem(
    {
      ...(column !== undefined && /^(?:Parse|Syntax)Error/.test(first) ? place : lineOnly),
      message: missing === undefined ? describeReason(name, first) : `the module "${missing}" does not exist`,
      cure: missing === undefined ? "Correct the code. It is read again when it is saved." : cureFor(missing, folder),
    },
    { cause: error },
  );
}

/** Returns the first position in a message or stack that is in the folder and not in an installed package. */
function findPlace(text: string, folder: string): Pick<Problem, "file" | "line" | "column"> | undefined {
  for (const textAfterFolder of text.split(folder + sep).slice(1)) {
    const [, file, line, column] = /^([^:\n]+):(\d+):(\d+)/.exec(textAfterFolder) ?? [];
    if (file === undefined || file.includes("node_modules")) continue;
    return { file: file.split(sep).join("/"), line: Number(line), column: Number(column) };
  }
  return undefined;
}

function describeReason(name: string, first: string): string {
  return name === "Error" || first.startsWith(name) ? first : `${name}: ${first}`;
}

function cureFor(missing: string, folder: string): string {
  if (/^[./]/.test(missing)) return "Correct the path; it is relative to the file that imports it.";
  return `Install it: npm install ${missing} --prefix ${quotedWord(folder)}`;
}

function asError(error: unknown): { name: string; message: string; stack: string } {
  if (error instanceof Error) return { name: error.name, message: error.message, stack: error.stack ?? "" };
  return { name: "Error", message: typeof error === "string" ? error : JSON.stringify(error), stack: "" };
}
