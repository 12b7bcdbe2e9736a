import type { Tool } from "mcparley/server";
import type { CodeModules } from "./code-modules.ts";
import type { Loaded } from "./loaded.ts";
import { FolderProblem } from "./problem.ts";

/**
 * Loads the tools that a module exports.
 *
 * The default export is named after the file; a named export by its own name, after the folders that the file is in.
 * Folders are joined by `_`, since not every client accepts dots or slashes in a tool's name.
 */
export async function loadToolModule(file: string, modules: CodeModules): Promise<Loaded<Tool>[]> {
  const exported = await modules.load(file);
  const tools = Object.entries(exported).filter((entry): entry is [string, Tool] => isTool(entry[1]));
  if (tools.length === 0) {
    throw new FolderProblem({
      file,
      line: 1,
      message: "the module exports no tool",
      cure:
        'Write `export default tool({ ... })`, with `tool` from "mcparley/server". A module that only helps others ' +
        "belongs outside tools/, or needs a name that begins with _.",
    });
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

/** The name of a tool file, or the problem that it has none: all clients know letters, digits, `_` and `-`. */
export function checkToolName(name: string, file: string): string {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(name)) return name;
  throw new FolderProblem({
    file,
    line: 1,
    message: `"${name}" cannot be the name of a tool`,
    cure: "Rename the file: letters, digits, _ and - are known to every client, 64 of them at most, folders included.",
  });
}

function isTool(value: unknown): value is Tool {
  if (typeof value !== "object" || value === null) return false;
  const { kind, call } = value as Partial<Tool>;
  return kind === "tool" && typeof call === "function";
}

let generation = 0;

/** What lists show of a tool, as far as it is plain data; a schema of a library counts as new each time it is loaded. */
function shapeOf(tool: Tool): string {
  // JSON leaves out functions, and so `call`. What a schema library makes may not even be JSON.
  return isPlain(tool.input) && isPlain(tool.output) ? JSON.stringify(tool) : `generation ${(generation += 1)}`;
}

function isPlain(schema: unknown): boolean {
  return typeof schema !== "object" || schema === null || !("~standard" in schema);
}
