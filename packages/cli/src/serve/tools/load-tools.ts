import type { Tool } from "mcparley/server";
import { type CodeModules, codeFile } from "./code-modules.ts";
import { listFiles, loadEach, readText } from "../files/load-files.ts";
import { type Loaded, type Problem, problemAt } from "../yaml/problem.ts";
import { checkToolName, commandTool } from "./command-tool.ts";

/**
 * Loads the tools that a module exports.
 *
 * The default export has the name of the file. A named export has its own name, prefixed with the folders of the file.
 * Folders are joined by `_`, because some clients reject dots and slashes in a tool's name.
 */
async function loadToolModule(file: string, modules: CodeModules): Promise<Loaded<Tool>[]> {
  const moduleExports = await modules.load(file);
  const tools = Object.entries(moduleExports).filter((entry): entry is [string, Tool] => isTool(entry[1]));
  if (tools.length === 0) {
    const cure =
      'Write `export default tool({ ... })`, with `tool` from "mcparley/server". A helper module ' +
      "belongs outside tools/, or its name starts with _.";
    throw problemAt({ file, line: 1 }, "the module exports no tool", cure);
  }
  const parts = file
    .replace(/\.\w+$/, "")
    .split("/")
    .slice(1);
  return tools.map(([exportName, definition]) => {
    const name = [...(exportName === "default" ? parts : [...parts.slice(0, -1), exportName])].join("_");
    return { name: checkToolName(name, file), file, definition, shape: shapeOf(definition) };
  });
}

/** Returns whether a value was made by `tool`. An invalid definition is refused, with its reason, when the server is made. */
function isTool(value: unknown): value is Tool {
  return typeof value === "object" && value !== null && "~feature" in value && (value as Partial<Tool>).kind === "tool";
}

let generation = 0;

/** Returns the list data of a tool, serialized. A schema of a library counts as changed each time it is loaded. */
function shapeOf(tool: Tool): string {
  // JSON omits functions, and so `call`. Schema objects of a library may not be serializable.
  return isPlain(tool.input) && isPlain(tool.output) ? JSON.stringify(tool) : `generation ${(generation += 1)}`;
}

function isPlain(schema: unknown): boolean {
  return typeof schema !== "object" || schema === null || !("~standard" in schema);
}

/** The tools of a folder, and the problems of its invalid files. */
export interface FoundTools {
  tools: Loaded<Tool>[];
  problems: Problem[];
}

/** Loads the modules and the command-line programs in `tools/`. If two tools have the same name, the first is used. */
export async function loadTools(folder: string, modules: CodeModules, env: NodeJS.ProcessEnv): Promise<FoundTools> {
  const problems: Problem[] = [];
  const report = (problem: Problem): void => void problems.push(problem);
  const files = await listFiles(folder, "tools", /\.(?:ya?ml|[cm]?[jt]s)$/);
  const loadedTools = await loadEach(files, report, async (file) =>
    codeFile.test(file)
      ? loadToolModule(file, modules)
      : [await commandTool(file, await readText(folder, file), { folder, env })],
  );
  const byName = new Map<string, Loaded<Tool>>();
  for (const tool of loadedTools) {
    const firstTool = byName.get(tool.name);
    if (!firstTool) byName.set(tool.name, tool);
    else report(sameName(tool, firstTool));
  }
  return { tools: [...byName.values()], problems };
}

function sameName(tool: Loaded<Tool>, firstTool: Loaded<Tool>): Problem {
  const message = `the tool "${tool.name}" is in ${firstTool.file} already`;
  return { file: tool.file, line: 1, message, cure: "Rename one of the two." };
}
