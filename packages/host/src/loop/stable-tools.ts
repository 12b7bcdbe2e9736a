import { printable } from "mcparley";
import type { Catalogue, CatalogueTool } from "../catalogue/catalogue.ts";
import type { ModelTool } from "../model/model-request.ts";
import { estimateToolTokens } from "../model/tokens.ts";
import { CALL_TOOL, SEARCH_TOOL } from "../search/search-prompt.ts";
import type { ToolSearch } from "../search/tool-search.ts";
import { readResultTool } from "./read-result.ts";
import { mapTexts } from "../values/map-texts.ts";
import { escapeTags } from "../conversation/server-text.ts";

/** The tools of one run. */
export interface RunTools {
  /**
   * Returns the definitions for the next request.
   *
   * The array only grows during a run, because providers cache the start of a request. A new tool is appended. A removed tool stays, and
   * its calls fail. A changed definition takes effect with the next run.
   */
  next(this: void): readonly ModelTool[];
  /** Whether the model searches for tools, because their definitions are over the limit. */
  readonly isSearching: boolean;
}

export interface RunToolsParts {
  readonly catalogue: () => Catalogue;
  readonly search: ToolSearch | undefined;
  readonly maxTokens: number;
}

/** The names of the tools of the host. A tool of a server with such a name cannot be called. */
export const hostToolNames: ReadonlySet<string> = new Set([readResultTool.name, SEARCH_TOOL, CALL_TOOL]);

/**
 * Returns the tools of a run: `read_result`, and then the tools of the catalogue in its order. If their definitions are over the
 * limit, `search_tools` and `call_tool` replace the tools of the catalogue. Without a search, the limit has no effect.
 */
export function createRunTools({ catalogue, search, maxTokens }: RunToolsParts): RunTools {
  let seen: Catalogue | undefined;
  let tools: readonly ModelTool[] = [readResultTool];
  let tokens = 0;
  let isSearching = false;
  const names = new Set(hostToolNames);

  /** Returns the definitions of the tools that are not in the array yet. */
  function added(current: Catalogue): ModelTool[] {
    const tools = current.tools.filter(({ name }) => !names.has(name)).map(toModelTool);
    for (const { name } of tools) names.add(name);
    return tools;
  }

  return {
    next() {
      const current = catalogue();
      if (current === seen) return tools;
      seen = current;
      if (isSearching) {
        search?.update(current.tools);
        return tools;
      }
      const definitions = added(current);
      tokens += estimateToolTokens(definitions);
      if (search && tokens > maxTokens) {
        isSearching = true;
        search.update(current.tools);
        tools = [...tools, ...search.modelTools()];
      } else if (definitions.length > 0) {
        tools = [...tools, ...definitions];
      }
      return tools;
    },
    get isSearching() {
      return isSearching;
    },
  };
}

// A tool of the catalogue never changes: a new definition is a new object.
const modelTools = new WeakMap<CatalogueTool, ModelTool>();

/** Returns the definition of a tool for the model. */
export function toModelTool(tool: CatalogueTool): ModelTool {
  const known = modelTools.get(tool);
  if (known) return known;
  const { name, description, inputSchema } = tool;
  const definition = mapTexts({ name, description: printable(description), inputSchema }, { text: escapeTags });
  modelTools.set(tool, definition);
  return definition;
}

/** Returns at most three names of the catalogue that are close to an unknown name. */
export function closeNames(name: string, { tools }: Catalogue): string[] {
  const unknown = name.toLowerCase();
  return tools
    .map((tool) => ({ name: tool.name, score: closeness(unknown, tool.name.toLowerCase()) }))
    .filter(({ score }) => score >= 3)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, 3)
    .map((found) => found.name);
}

/** The length of the common start, or of the contained name. */
function closeness(unknown: string, name: string): number {
  if (unknown !== "" && name.includes(unknown)) return unknown.length;
  if (name !== "" && unknown.includes(name)) return name.length;
  let length = 0;
  while (length < unknown.length && unknown[length] === name[length]) length += 1;
  return length;
}
