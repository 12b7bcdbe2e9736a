import type { CatalogueTool } from "../catalogue/catalogue.ts";
import { actionsOfName } from "./actions.ts";
import { type Field, wordsOfTool } from "./tool-text.ts";
import { FIELDS, RANKING } from "./weights.ts";
import { stem } from "./words.ts";

/** How a term occurs in a tool. */
interface TermMatch {
  /** From 0 to 1. More occurrences, and occurrences in more important fields, count more. */
  strength: number;
  isInName: boolean;
  isInServer: boolean;
}

/** A tool in the index. */
export interface IndexedTool {
  /** The entry of the newest catalogue. */
  entry: CatalogueTool;
  /** The place in the catalogue. Ties are ordered by it. */
  position: number;
  readonly nameTerms: readonly string[];
  readonly actions: ReadonlySet<string>;
  readonly terms: ReadonlyMap<string, Readonly<TermMatch>>;
}

/** An inverted index of the tools of a catalogue. */
export interface SearchIndex {
  /** Replaces the tools. Only added, removed and changed tools are read again. */
  update(tools: readonly CatalogueTool[]): void;
  /** The number of tools. */
  size(): number;
  /** The number of tools of a server. */
  sizeOfServer(server: string): number;
  /** The tools with a term. */
  matches(term: string): ReadonlyMap<IndexedTool, Readonly<TermMatch>> | undefined;
  /** All terms. */
  vocabulary(): Iterable<string>;
}

/** Creates an empty index. */
export function createSearchIndex(): SearchIndex {
  const tools = new Map<string, IndexedTool>();
  const postings = new Map<string, Map<IndexedTool, Readonly<TermMatch>>>();
  const servers = new Map<string, number>();

  const count = (server: string, change: number): void => {
    servers.set(server, (servers.get(server) ?? 0) + change);
  };
  const remove = (tool: IndexedTool): void => {
    tools.delete(tool.entry.name);
    count(tool.entry.server, -1);
    for (const term of tool.terms.keys()) {
      const posting = postings.get(term);
      posting?.delete(tool);
      if (posting?.size === 0) postings.delete(term);
    }
  };
  const add = (tool: IndexedTool): void => {
    tools.set(tool.entry.name, tool);
    count(tool.entry.server, 1);
    for (const [term, match] of tool.terms) {
      const posting = postings.get(term);
      if (posting === undefined) postings.set(term, new Map([[tool, match]]));
      else posting.set(tool, match);
    }
  };

  return {
    update(next) {
      const names = new Set(next.map(({ name }) => name));
      for (const tool of tools.values()) if (!names.has(tool.entry.name)) remove(tool);
      for (const [position, entry] of next.entries()) {
        const known = tools.get(entry.name);
        if (known !== undefined && known.entry.tool === entry.tool && known.entry.server === entry.server) {
          known.position = position;
          known.entry = entry;
          continue;
        }
        if (known !== undefined) remove(known);
        add(readTool(entry, position));
      }
    },
    size: () => tools.size,
    sizeOfServer: (server) => servers.get(server) ?? 0,
    matches: (term) => postings.get(term),
    vocabulary: () => postings.keys(),
  };
}

/** Reads the terms of a tool. */
function readTool(entry: CatalogueTool, position: number): IndexedTool {
  const terms = new Map<string, TermMatch>();
  const words = wordsOfTool(entry);
  for (const [field, list] of words) {
    const weight = weightOf(field, list.length);
    for (const word of list) {
      const term = stem(word);
      let match = terms.get(term);
      if (match === undefined) terms.set(term, (match = { strength: 0, isInName: false, isInServer: false }));
      match.strength += weight;
      if (field === "name") match.isInName = true;
      if (field === "server") match.isInServer = true;
    }
  }
  for (const match of terms.values()) match.strength /= match.strength + RANKING.saturation;
  const name = words.get("name") ?? [];
  return { entry, position, nameTerms: [...new Set(name.map(stem))], actions: actionsOfName(name), terms };
}

/** Returns the weight of one occurrence in a field with this number of words. */
function weightOf(field: Field, length: number): number {
  const { weight, typicalLength, lengthPenalty } = FIELDS[field];
  return weight / (1 - lengthPenalty + (lengthPenalty * length) / typicalLength);
}
