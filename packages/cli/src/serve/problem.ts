import { join, relative } from "node:path";

/** What is wrong with a file of the folder, where, and what to do about it. */
export interface Problem {
  /** Relative to the folder, with `/` between its parts. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1. */
  readonly column?: number;
  readonly message: string;
  readonly cure: string;
}

/** Carries a problem to where the file is given up and the rest goes on. */
export class FolderProblem extends Error {
  override readonly name: string = "FolderProblem";
  readonly problem: Problem;

  constructor(problem: Problem, options?: { cause?: unknown }) {
    super(formatProblem(problem), options);
    this.problem = problem;
  }
}

/** One line: `file:line:column: message — cure`, which terminals and editors turn into a link to the place. */
export function formatProblem({ file, line, column, message, cure }: Problem, shownFile: string = file): string {
  const place = column === undefined ? `${shownFile}:${line}` : `${shownFile}:${line}:${column}`;
  return `${place}: ${message} — ${cure}`;
}

/** Runs `load`, and gives the problem of its file where there is one; any other error is a defect of ours and goes on. */
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
  /** Tells of the problems that are new since the last time, and of the files that have none any more. */
  update(problems: readonly Problem[]): void;
}

/** Makes what tells a person of a folder's problems, each once, with paths that the terminal can follow from `cwd`. */
export function problemReport(folder: string, cwd: string, write: (line: string) => void): ProblemReport {
  let shown = new Map<string, string>();
  const pathOf = (file: string): string => {
    const path = join(folder, file);
    const fromHere = relative(cwd, path);
    return fromHere.startsWith("..") ? path : fromHere;
  };
  return {
    update(problems) {
      const now = new Map(problems.map((problem) => [formatProblem(problem, pathOf(problem.file)), problem.file]));
      for (const line of now.keys()) if (!shown.has(line)) write(line);
      const broken = new Set(now.values());
      for (const file of new Set(shown.values())) if (!broken.has(file)) write(`${pathOf(file)}: in order again`);
      shown = now;
    },
  };
}

/** One thing that the folder offers, with what tells whether it changed. */
export interface Loaded<D> {
  readonly name: string;
  /** The file that it comes from, relative to the folder. */
  readonly file: string;
  readonly definition: D;
  /** All that a list shows of it: where it stays the same, no list has changed. */
  readonly shape: string;
}
