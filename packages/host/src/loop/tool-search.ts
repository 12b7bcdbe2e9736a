import type { JsonObject } from "mcparley";
import type { CatalogueTool } from "../catalogue/catalogue.ts";
import type { ModelTool } from "../model/model-request.ts";

/** Searches the tools of a large catalogue. */
export interface ToolSearchPort {
  /** Replaces the tools to search. Called when the catalogue has changed. */
  update(this: void, tools: readonly CatalogueTool[]): void;
  /** Returns the best results as text for the model: names, descriptions and schemas. */
  find(this: void, query: string, limit: number): string;
}

/** Maximum number of tools in a result. */
const MAX_RESULTS = 10;
const MAX_QUERY_LENGTH = 1000;

/** The tools with which the model uses a large catalogue. They never change, so that prompt caches stay valid. */
export const searchTools: readonly [ModelTool, ModelTool] = [
  {
    name: "search_tools",
    description:
      "Finds tools for a task. Returns their names, descriptions and schemas of arguments. Call a found tool with call_tool.",
    inputSchema: {
      type: "object",
      properties: { query: { type: "string", description: "The task, in a few words." } },
      required: ["query"],
      additionalProperties: false,
    },
  },
  {
    name: "call_tool",
    description: "Calls a tool that search_tools found, by its exact name.",
    inputSchema: {
      type: "object",
      properties: {
        name: { type: "string", description: "The name of the tool." },
        arguments: {
          type: "object",
          description: "The arguments, as the schema of the tool requires.",
          additionalProperties: true,
        },
      },
      required: ["name", "arguments"],
      additionalProperties: false,
    },
  },
];

/** Answers a call of `search_tools`. */
export function runSearch(search: ToolSearchPort, { query }: JsonObject): { text: string; isError: boolean } {
  if (typeof query !== "string" || query.trim() === "") return { text: "`query` must be a text.", isError: true };
  return { text: search.find(query.slice(0, MAX_QUERY_LENGTH), MAX_RESULTS), isError: false };
}

/**
 * Reads the arguments of `call_tool`. `text` is set if the model wrote the arguments of the tool as JSON text within the JSON.
 */
export function readCallTool({
  name,
  arguments: args,
}: JsonObject): { name: string; text: string | undefined } | { problem: string } {
  if (typeof name !== "string" || name === "") return { problem: "`name` must be the name of a tool." };
  return { name, text: typeof args === "string" ? args : undefined };
}
