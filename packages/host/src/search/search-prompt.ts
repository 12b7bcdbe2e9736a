import type { ModelTool } from "../model/model-request.ts";
import { estimateToolTokens } from "../model/tokens.ts";
import type { CatalogueTool } from "../catalogue/catalogue.ts";
import { actionsOfName } from "./actions.ts";
import { STOP_WORDS, stem } from "./words.ts";

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
    const next = [...lines, lineOf(label, 0), describeOthers(labels.length - place - 1)];
    if (estimateToolTokens(toolsWith(next)) > budget) break;
    lines.push(lineOf(label, 0));
  }
  return lines.length < labels.length ? [...lines, describeOthers(labels.length - lines.length)] : lines;
}

function describeOthers(count: number): string {
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

/** A server in the description of the search tool. */
export interface ServerLabel {
  readonly server: string;
  /** The number of its tools. */
  readonly size: number;
  /** The commonest words of the names of its tools, with the commonest first. */
  readonly topics: readonly string[];
}

/** The maximum number of topics, and the maximum length of a topic in characters. */
const MAX_TOPICS = 8;
const MAX_TOPIC_LENGTH = 20;

/**
 * Returns a label for each server, in the order of the catalogue.
 *
 * Topics are single words of letters and digits. A server cannot place sentences in the description of the search tool.
 */
export function labelServers(tools: readonly CatalogueTool[]): ServerLabel[] {
  const names = new Map<string, string[]>();
  for (const { server, tool } of tools) {
    const serverNames = names.get(server);
    if (serverNames === undefined) names.set(server, [tool.name]);
    else serverNames.push(tool.name);
  }
  return [...names].map(([server, toolNames]) => ({
    server,
    size: toolNames.length,
    topics: topicsOf(server, toolNames),
  }));
}

function topicsOf(server: string, names: readonly string[]): string[] {
  const counts = new Map<string, { word: string; count: number }>();
  const serverTerms = new Set(wordsOfName(server).map(stem));
  for (const name of names) {
    for (const word of new Set(wordsOfName(name))) {
      const term = stem(word);
      if (serverTerms.has(term) || word.length > MAX_TOPIC_LENGTH || /^\d/.test(word)) continue;
      const entry = counts.get(term) ?? { word, count: 0 };
      entry.count++;
      counts.set(term, entry);
    }
  }
  // Verbs such as "get" are left out unless there is nothing else.
  const all = [...counts.values()].filter(({ word }) => word.length > 1 && !STOP_WORDS.has(word));
  const nouns = all.filter(({ word }) => actionsOfName([word]).size === 0);
  const candidates = (nouns.length > 0 ? nouns : all).toSorted((first, second) => second.count - first.count);
  return candidates.slice(0, MAX_TOPICS).map(({ word }) => word);
}

/** Returns the lower-case words of a name. */
function wordsOfName(name: string): string[] {
  const text = name.slice(0, 128).replaceAll(/([a-z\d])([A-Z])/g, "$1 $2");
  return text.toLowerCase().match(/[a-z\d]+/g) ?? [];
}
