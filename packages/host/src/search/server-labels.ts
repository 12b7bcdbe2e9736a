import type { CatalogueTool } from "../catalogue/catalogue.ts";
import { actionsOfName } from "./actions.ts";
import { STOP_WORDS } from "./stop-words.ts";
import { stem } from "./words.ts";

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
    const known = names.get(server);
    if (known === undefined) names.set(server, [tool.name]);
    else known.push(tool.name);
  }
  return [...names].map(([server, own]) => ({ server, size: own.length, topics: topicsOf(server, own) }));
}

function topicsOf(server: string, names: readonly string[]): string[] {
  const counts = new Map<string, { word: string; count: number }>();
  const excluded = new Set(wordsOfName(server).map(stem));
  for (const name of names) {
    for (const word of new Set(wordsOfName(name))) {
      const term = stem(word);
      if (excluded.has(term) || word.length > MAX_TOPIC_LENGTH || /^\d/.test(word)) continue;
      const found = counts.get(term) ?? { word, count: 0 };
      found.count++;
      counts.set(term, found);
    }
  }
  // Verbs such as "get" are left out unless there is nothing else.
  const all = [...counts.values()].filter(({ word }) => word.length > 1 && !STOP_WORDS.has(word));
  const nouns = all.filter(({ word }) => actionsOfName([word]).size === 0);
  const sorted = (nouns.length > 0 ? nouns : all).toSorted((first, second) => second.count - first.count);
  return sorted.slice(0, MAX_TOPICS).map(({ word }) => word);
}

/** Returns the lower-case words of a name. */
function wordsOfName(name: string): string[] {
  const spaced = name.slice(0, 128).replaceAll(/([a-z\d])([A-Z])/g, "$1 $2");
  return spaced.toLowerCase().match(/[a-z\d]+/g) ?? [];
}
