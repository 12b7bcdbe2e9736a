import { join, relative } from "node:path";
import { type Problem, formatProblem } from "./problem.ts";

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
