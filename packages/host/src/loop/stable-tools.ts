import { printable } from "mcparley";
import type { Catalogue, CatalogueTool } from "../catalogue/catalogue.ts";
import type { ModelTool } from "../model/model-request.ts";
import { estimateToolTokens } from "../model/tokens.ts";
import { CALL_TOOL, SEARCH_TOOL } from "../search/search-prompt.ts";
import type { ToolSearch } from "../search/tool-search.ts";
import { readResultTool } from "./read-result.ts";
import { mapTexts } from "../values/map-texts.ts";
import { escapeTags } from "../conversation/server-text.ts";

interface RunToolsParts {
  readonly catalogue: () => Catalogue;
  readonly search: ToolSearch | undefined;
  readonly maxTokens: number;
}

/** The names of the tools of the host. A tool of a server with such a name cannot be called. */
export const hostToolNames: ReadonlySet<string> = new Set([readResultTool.name, SEARCH_TOOL, CALL_TOOL]);

/**
 * The tools of a run: `read_result`, and then the tools of the catalogue in its order. If their definitions are over the
 * limit, `search_tools` and `call_tool` replace the tools of the catalogue. Without a search, the limit has no effect.
 */
export class RunTools {
  readonly #parts: RunToolsParts;
  readonly #names = new Set(hostToolNames);
  #catalogue: Catalogue | undefined;
  #tools: readonly ModelTool[] = [readResultTool];
  #tokens = 0;
  #isSearching = false;

  constructor(parts: RunToolsParts) {
    this.#parts = parts;
  }

  /** Whether the model searches for tools, because their definitions are over the limit. */
  get isSearching(): boolean {
    return this.#isSearching;
  }

  /**
   * Returns the definitions for the next request.
   *
   * The array only grows during a run, because providers cache the start of a request. A new tool is appended. A removed tool stays, and
   * its calls fail. A changed definition takes effect with the next run.
   */
  next(): readonly ModelTool[] {
    const { search, maxTokens } = this.#parts;
    const catalogue = this.#parts.catalogue();
    if (catalogue === this.#catalogue) return this.#tools;
    this.#catalogue = catalogue;
    if (this.#isSearching) {
      search?.update(catalogue.tools);
      return this.#tools;
    }
    const definitions = catalogue.tools.filter(({ name }) => !this.#names.has(name)).map(toModelTool);
    for (const { name } of definitions) this.#names.add(name);
    this.#tokens += estimateToolTokens(definitions);
    if (search && this.#tokens > maxTokens) {
      this.#isSearching = true;
      search.update(catalogue.tools);
      this.#tools = [...this.#tools, ...search.modelTools()];
    } else if (definitions.length > 0) {
      this.#tools = [...this.#tools, ...definitions];
    }
    return this.#tools;
  }
}

// A tool of the catalogue never changes: a new definition is a new object.
const modelTools = new WeakMap<CatalogueTool, ModelTool>();

/** Returns the definition of a tool for the model. */
export function toModelTool(tool: CatalogueTool): ModelTool {
  const knownTool = modelTools.get(tool);
  if (knownTool) return knownTool;
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
    .map((candidate) => candidate.name);
}

/** The length of the common start, or of the contained name. */
function closeness(unknown: string, name: string): number {
  if (unknown !== "" && name.includes(unknown)) return unknown.length;
  if (name !== "" && unknown.includes(name)) return name.length;
  let length = 0;
  while (length < unknown.length && unknown[length] === name[length]) length += 1;
  return length;
}
