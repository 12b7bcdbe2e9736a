import type { ServerCore, ToolEntry } from "../core/server-core.ts";

/** Called with a tool whose schemas may not be converted yet. Throws `invalid_definition`, naming the tool. */
type CheckTool = (tool: ToolEntry) => void;

const convert: CheckTool = (tool) => tool.convert();

/** Converts the schemas of all tools. Throws `invalid_definition` for the first tool that cannot be offered. */
export function convertTools({ offering }: ServerCore, check: CheckTool = convert): void {
  for (const tool of offering.tools.entries()) check(tool);
}

/**
 * Converts the schemas of one tool in each turn of the event loop, so that first requests are answered between them. Rejects
 * as `convertTools` throws.
 */
export async function convertToolsWhenIdle({ offering }: ServerCore, check: CheckTool = convert): Promise<void> {
  for (const tool of offering.tools.entries()) {
    if (!tool.isConverted) await nextTurn();
    const isOffered = offering.tools.entry(tool.name) === tool;
    if (isOffered) check(tool);
  }
}

/** Resolves in a later turn of the event loop, also on runtimes without `setImmediate`. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 0);
  });
}
