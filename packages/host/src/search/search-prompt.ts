import type { ModelTool } from "../model/model-request.ts";
import type { ServerLabel } from "./server-labels.ts";
import { estimateToolTokens } from "../model/tokens.ts";

/** The name of the tool that searches the catalogue. */
export const SEARCH_TOOL = "search_tools";
/** The name of the tool that calls a found tool. */
export const CALL_TOOL = "call_tool";

/** The numbers of topics for each server, from the most detailed description to the shortest. */
const TOPIC_COUNTS = [8, 6, 4, 2, 0];

/**
 * Returns the two tools that the model sees instead of the catalogue: one searches it, one calls a found tool. Both have fixed schemas,
 * so that the prompt cache of the model stays valid after a search.
 */
export function searchTools(labels: readonly ServerLabel[], budget: number): readonly [ModelTool, ModelTool] {
  for (const topics of TOPIC_COUNTS) {
    const tools = toolsWith(labels.map((label) => lineOf(label, topics)));
    if (estimateToolTokens(tools) <= budget) return tools;
  }
  return toolsWith(fittingLines(labels, budget));
}

/** Returns the lines of the largest number of servers that fits, and a line with the number of the others. */
function fittingLines(labels: readonly ServerLabel[], budget: number): string[] {
  const lines: string[] = [];
  for (const [place, label] of labels.entries()) {
    const next = [...lines, lineOf(label, 0), rest(labels.length - place - 1)];
    if (estimateToolTokens(toolsWith(next)) > budget) break;
    lines.push(lineOf(label, 0));
  }
  return lines.length < labels.length ? [...lines, rest(labels.length - lines.length)] : lines;
}

function rest(count: number): string {
  return `- and ${count} more servers`;
}

/** Returns the line of a server, such as `- github (26 tools): issue, pull, request`. */
function lineOf({ server, size, topics }: ServerLabel, count: number): string {
  const names = topics.slice(0, count).join(", ");
  return `- ${server} (${size} ${size === 1 ? "tool" : "tools"})${names === "" ? "" : `: ${names}`}`;
}

function toolsWith(lines: readonly string[]): readonly [ModelTool, ModelTool] {
  return [
    {
      name: SEARCH_TOOL,
      description:
        `Searches the tools of the connected servers. Returns the names, descriptions and input schemas of the best matches. ` +
        `Search before you answer that something is not possible. Call a found tool with ${CALL_TOOL}.\n\nServers:\n` +
        lines.join("\n"),
      inputSchema: {
        type: "object",
        properties: {
          query: {
            type: "string",
            description:
              "The action and the object in a few words, with the server if it is known: create issue github",
          },
          limit: { type: "integer", description: "Maximum number of results, from 1 to 20. Default: 5." },
        },
        required: ["query"],
      },
    },
    {
      name: CALL_TOOL,
      description: `Calls a tool that ${SEARCH_TOOL} has returned.`,
      inputSchema: {
        type: "object",
        properties: {
          name: { type: "string", description: `The name of the tool, as ${SEARCH_TOOL} returned it.` },
          arguments: { type: "object", description: "The arguments, as the input schema of the tool requires them." },
        },
        required: ["name", "arguments"],
      },
    },
  ];
}
