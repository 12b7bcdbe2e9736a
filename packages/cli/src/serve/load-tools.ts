import type { Tool } from "mcparley/server";
import { type CodeModules, codeFile } from "./code-modules.ts";
import { commandTool } from "./command-tool.ts";
import { listFiles, loadEach, readText } from "./load-files.ts";
import type { Loaded } from "./loaded.ts";
import type { Problem } from "./problem.ts";
import { loadToolModule } from "./tool-modules.ts";

/** The tools of a folder, and what is wrong with those that are missing. */
export interface FoundTools {
  tools: Loaded<Tool>[];
  problems: Problem[];
}

/** Loads the modules and the command-line programs in `tools/`. Where two have one name, the first is taken. */
export async function loadTools(folder: string, modules: CodeModules, env: NodeJS.ProcessEnv): Promise<FoundTools> {
  const problems: Problem[] = [];
  const report = (problem: Problem): void => void problems.push(problem);
  const files = await listFiles(folder, "tools", /\.(?:ya?ml|[cm]?[jt]s)$/);
  const loaded = await loadEach(files, report, async (file) =>
    codeFile.test(file)
      ? loadToolModule(file, modules)
      : [await commandTool(file, await readText(folder, file), { folder, env })],
  );
  const byName = new Map<string, Loaded<Tool>>();
  for (const tool of loaded) {
    const other = byName.get(tool.name);
    if (!other) byName.set(tool.name, tool);
    else report(sameName(tool, other));
  }
  return { tools: [...byName.values()], problems };
}

function sameName(tool: Loaded<Tool>, other: Loaded<Tool>): Problem {
  const message = `the tool "${tool.name}" is in ${other.file} already`;
  return { file: tool.file, line: 1, message, cure: "Rename one of the two." };
}
