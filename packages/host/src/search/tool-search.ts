import type { JsonObject } from "mcparley";
import type { CatalogueTool } from "../catalogue/catalogue.ts";
import type { ModelTool } from "../model/model-request.ts";
import { type ToolMatch, rank } from "./rank.ts";
import { describeTools } from "./result-text.ts";
import { createSearchIndex } from "./search-index.ts";
import { SEARCH_TOOL, searchTools } from "./search-prompt.ts";
import { labelServers } from "./server-labels.ts";

/** Options of `createToolSearch`. */
export interface ToolSearchOptions {
  /** Maximum number of tokens of the two tools that the model sees, estimated. Default: 2,000. */
  readonly promptTokens?: number;
  /** Maximum number of tokens of the text of one search, estimated. Default: 6,000. */
  readonly resultTokens?: number;
}

/** The answer to a call of `search_tools`. */
interface SearchAnswer {
  /** The text for the model. */
  readonly text: string;
  /** Whether the arguments were invalid. The text has the reason. */
  readonly isError: boolean;
  readonly matches: readonly ToolMatch[];
}

/** A search over the tools of a catalogue that is too large for a prompt. */
export interface ToolSearch {
  /** Replaces the tools. Only added, removed and changed tools are read again: those whose `tool` is another object. */
  update(this: void, tools: readonly CatalogueTool[]): void;
  /** Returns the best matches, with the best one first. `limit` is 1 to 20. Default: 5. */
  search(this: void, query: string, limit?: number): ToolMatch[];
  /** Returns the tools for the model. The array is the same object until the servers or the names of their tools change. */
  modelTools(this: void): readonly ModelTool[];
  /** Returns the definitions of found tools as text for the model, within the budget. */
  describe(this: void, matches: readonly ToolMatch[]): string;
  /** Answers a call of `search_tools`. */
  answer(this: void, args: JsonObject): SearchAnswer;
}

const DEFAULT_LIMIT = 5;
const MAX_LIMIT = 20;

/**
 * Creates a search over the tools of a catalogue.
 *
 * The model sees two tools instead of the catalogue, `search_tools` and `call_tool`. A search returns the definitions of the found tools
 * as text, so that the array of tools never changes within a conversation and the prompt cache of the model stays valid.
 */
export function createToolSearch({ promptTokens = 2_000, resultTokens = 6_000 }: ToolSearchOptions = {}): ToolSearch {
  const index = createSearchIndex();
  let modelTools: readonly ModelTool[] = searchTools([], promptTokens);

  const search = (query: string, limit = DEFAULT_LIMIT): ToolMatch[] => rank(index, query, clampLimit(limit));
  const describe = (matches: readonly ToolMatch[]): string =>
    describeTools(
      matches.map(({ tool }) => tool),
      resultTokens,
    );

  return {
    update(tools) {
      index.update(tools);
      const next = searchTools(labelServers(tools), promptTokens);
      if (next[0].description !== modelTools[0]?.description) modelTools = next;
    },
    search,
    describe,
    modelTools: () => modelTools,
    answer({ query, limit }) {
      if (typeof query !== "string" || query.trim() === "") {
        const text = `${SEARCH_TOOL} requires "query", a text that is not empty. Write what the tool must do, such as "create issue".`;
        return { text, isError: true, matches: [] };
      }
      const matches = search(query, typeof limit === "number" ? limit : DEFAULT_LIMIT);
      return { text: describe(matches), isError: false, matches };
    },
  };
}

/** Limits the number of results. A value that is not a number is the default. */
function clampLimit(limit: number): number {
  if (Number.isNaN(limit)) return DEFAULT_LIMIT;
  return Math.min(MAX_LIMIT, Math.max(1, Math.trunc(limit)));
}
