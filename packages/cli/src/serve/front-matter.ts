import { FolderProblem } from "./problem.ts";
import type { YamlSource } from "./yaml-fields.ts";

export interface FrontMatter {
  /** Undefined where the file has none. */
  yaml: YamlSource | undefined;
  body: string;
  /** The line of the file on which the body begins. */
  bodyLine: number;
}

const fence = /^---[ \t]*$/;

/** Splits a file into the YAML between its first two `---` lines and the text after them. */
export function splitFrontMatter(file: string, source: string): FrontMatter {
  const lines = source.replace(/^\uFEFF/, "").split(/\r?\n/);
  if (!fence.test(lines[0] ?? "")) return { yaml: undefined, body: lines.join("\n"), bodyLine: 1 };
  const end = lines.findIndex((line, index) => index > 0 && fence.test(line));
  if (end === -1) {
    throw new FolderProblem({
      file,
      line: 1,
      message: "the front matter is never closed",
      cure: "End it with a line that holds nothing but ---.",
    });
  }
  const yaml = { file, text: lines.slice(1, end).join("\n"), firstLine: 2 };
  return { yaml, body: lines.slice(end + 1).join("\n"), bodyLine: end + 2 };
}
