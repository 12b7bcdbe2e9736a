import { join, relative } from "node:path";
import { printable } from "mcparley";

/** A problem in a file of the folder: its position, the message and the cure. */
export interface Problem {
  /** Relative to the folder, with `/` between its parts. */
  readonly file: string;
  /** From 1. Undefined if the problem is not in the contents of a file. */
  readonly line?: number;
  /** From 1. */
  readonly column?: number;
  readonly message: string;
  readonly cure: string;
}

/** An error that carries a problem. The file is skipped, and loading continues with the next one. */
export class FolderProblem extends Error {
  override readonly name: string = "FolderProblem";
  readonly problem: Problem;

  constructor(problem: Problem, options?: { cause?: unknown }) {
    super(formatProblem(problem), options);
    this.problem = problem;
  }
}

/** Returns a problem at a place of a file. */
export function problemAt(
  place: Pick<Problem, "file" | "line" | "column">,
  message: string,
  cure: string,
): FolderProblem {
  return new FolderProblem({ ...place, message, cure });
}

/**
 * Formats a problem as one line, `file:line:column: message — cure`, as far as the place is known. Terminals and editors turn the position into a
 * link. Characters that control a terminal or reorder text are escaped.
 */
export function formatProblem({ file, line, column, message, cure }: Problem, shownFile: string = file): string {
  const place = [shownFile, line, column].filter((part) => part !== undefined).join(":");
  return printable(`${place}: ${message} — ${cure}`).replaceAll(/[\t\n]+/g, " ");
}

/** Runs `load` and reports a `FolderProblem`. Any other error is a defect of this package and is rethrown. */
export async function orProblem<T>(
  load: () => Promise<T> | T,
  report: (problem: Problem) => void,
): Promise<T | undefined> {
  try {
    return await load();
  } catch (error) {
    if (!(error instanceof FolderProblem)) throw error;
    report(error.problem);
    return undefined;
  }
}

export interface ProblemReport {
  /** Writes the problems that are new since the last call, and the files that no longer have any. */
  update(problems: readonly Problem[]): void;
}

/** Creates a report that writes each problem of a folder once, with paths relative to `cwd` if they are below it. */
export function problemReport(folder: string, cwd: string, write: (line: string) => void): ProblemReport {
  let reportedLines = new Map<string, string>();
  const pathOf = (file: string): string => {
    const path = join(folder, file);
    const fromHere = relative(cwd, path);
    if (fromHere === "") return ".";
    return fromHere.startsWith("..") ? path : fromHere + (file.endsWith("/") ? "/" : "");
  };
  return {
    update(problems) {
      const now = new Map(problems.map((problem) => [formatProblem(problem, pathOf(problem.file)), problem.file]));
      for (const line of now.keys()) if (!reportedLines.has(line)) write(line);
      const broken = new Set(now.values());
      for (const file of new Set(reportedLines.values()))
        if (!broken.has(file)) write(`${pathOf(file)}: the problems are corrected`);
      reportedLines = now;
    },
  };
}

/** One loaded entry of the folder, with its list data for detecting changes. */
export interface Loaded<D> {
  readonly name: string;
  /** Source file, relative to the folder. */
  readonly file: string;
  readonly definition: D;
  /** The list data of the entry, serialized. If it is unchanged, no list has changed. */
  readonly shape: string;
}
