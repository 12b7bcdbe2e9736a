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
