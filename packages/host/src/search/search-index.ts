import { isObject } from "@mcparley/internal/is-object";
import type { CatalogueTool } from "../catalogue/catalogue.ts";
import { actionsOfName } from "./actions.ts";
import { stem, wordsOf } from "./words.ts";

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
export class SearchIndex {
  readonly #tools = new Map<string, IndexedTool>();
  readonly #postings = new Map<string, Map<IndexedTool, Readonly<TermMatch>>>();
  readonly #servers = new Map<string, number>();

  /** The number of tools. */
  get size(): number {
    return this.#tools.size;
  }

  /** All terms. */
  get vocabulary(): Iterable<string> {
    return this.#postings.keys();
  }

  /** Returns the number of tools of a server. */
  sizeOfServer(server: string): number {
    return this.#servers.get(server) ?? 0;
  }

  /** Returns the tools with a term. */
  matches(term: string): ReadonlyMap<IndexedTool, Readonly<TermMatch>> | undefined {
    return this.#postings.get(term);
  }

  /** Replaces the tools. Only added, removed and changed tools are read again. */
  update(next: readonly CatalogueTool[]): void {
    const names = new Set(next.map(({ name }) => name));
    for (const tool of this.#tools.values()) if (!names.has(tool.entry.name)) this.#remove(tool);
    for (const [position, entry] of next.entries()) {
      const tool = this.#tools.get(entry.name);
      if (tool?.entry.tool === entry.tool && tool.entry.server === entry.server) {
        tool.position = position;
        tool.entry = entry;
        continue;
      }
      if (tool) this.#remove(tool);
      this.#add(readTool(entry, position));
    }
  }

  #add(tool: IndexedTool): void {
    this.#tools.set(tool.entry.name, tool);
    this.#count(tool.entry.server, 1);
    for (const [term, match] of tool.terms) {
      const posting = this.#postings.get(term);
      if (posting === undefined) this.#postings.set(term, new Map([[tool, match]]));
      else posting.set(tool, match);
    }
  }

  #remove(tool: IndexedTool): void {
    this.#tools.delete(tool.entry.name);
    this.#count(tool.entry.server, -1);
    for (const term of tool.terms.keys()) {
      const posting = this.#postings.get(term);
      posting?.delete(tool);
      if (posting?.size === 0) this.#postings.delete(term);
    }
  }

  #count(server: string, change: number): void {
    this.#servers.set(server, this.sizeOfServer(server) + change);
  }
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

/** A part of a tool's text. Matches in different fields have different weights. */
type Field = "name" | "title" | "server" | "summary" | "details" | "parameters";

/** The maximum number of characters of each field. A server cannot gain weight with longer texts. */
const MAX_CHARACTERS = { name: 128, title: 128, summary: 220, details: 500, parameters: 500 } as const;

/** The depth up to which nested parameters are read. */
const MAX_DEPTH = 2;

/** Returns the words of each field of a tool. */
function wordsOfTool({ tool, server }: CatalogueTool): ReadonlyMap<Field, string[]> {
  const description = (tool.description ?? "").slice(0, MAX_CHARACTERS.summary + MAX_CHARACTERS.details).trim();
  const summary = firstSentence(description);
  const name = wordsOf(tool.name.slice(0, MAX_CHARACTERS.name));
  const title = wordsOf(titleOf(tool).slice(0, MAX_CHARACTERS.title));
  return new Map([
    ["name", name],
    // A title that repeats the name would count twice.
    ["title", title.join(" ") === name.join(" ") ? [] : title],
    ["server", wordsOf(server)],
    ["summary", wordsOf(summary)],
    ["details", wordsOf(description.slice(summary.length, summary.length + MAX_CHARACTERS.details))],
    ["parameters", wordsOf(textOfParameters(tool.inputSchema).slice(0, MAX_CHARACTERS.parameters))],
  ]);
}

/** Returns the title of a tool. The members of `annotations` can have any type. */
function titleOf({ title, annotations }: CatalogueTool["tool"]): string {
  const text: unknown = title ?? annotations?.title;
  return typeof text === "string" ? text : "";
}

/** Returns the first sentence of a description, and at least 20 characters. */
function firstSentence(description: string): string {
  const match = /^[\s\S]{20,220}?[.!?\n](?=\s|$)/.exec(description);
  return match === null ? description.slice(0, MAX_CHARACTERS.summary) : match[0];
}

/** Returns the names and descriptions of the parameters, up to the limits of depth and length. */
function textOfParameters(schema: unknown): string {
  const parts: string[] = [];
  let length = 0;
  const read = (value: unknown, depth: number): void => {
    if (!isObject(value) || !isObject(value["properties"])) return;
    for (const [name, property] of Object.entries(value["properties"])) {
      if (length > MAX_CHARACTERS.parameters) return;
      const description =
        isObject(property) && typeof property["description"] === "string" ? property["description"] : "";
      const part = `${name} ${description.slice(0, MAX_CHARACTERS.parameters)}`;
      parts.push(part);
      length += part.length;
      if (depth >= MAX_DEPTH || !isObject(property)) continue;
      read(property, depth + 1);
      read(property["items"], depth + 1);
    }
  };
  read(schema, 1);
  return parts.join(" ");
}

/** How a field counts: its weight, its typical number of words, and how much longer texts count less (0 to 1). */
interface FieldWeight {
  readonly weight: number;
  readonly typicalLength: number;
  readonly lengthPenalty: number;
}

/**
 * The weights of the fields. The typical lengths are those of the published tools in `tests/host/search/corpus`. They are constants,
 * so that the tools of one server do not change the scores of another.
 */
const FIELDS: Readonly<Record<Field, FieldWeight>> = {
  name: { weight: 4, typicalLength: 3, lengthPenalty: 0.4 },
  title: { weight: 1.6, typicalLength: 2, lengthPenalty: 0.4 },
  server: { weight: 2.5, typicalLength: 1, lengthPenalty: 0 },
  summary: { weight: 1.8, typicalLength: 10, lengthPenalty: 0.65 },
  details: { weight: 0.7, typicalLength: 37, lengthPenalty: 0.6 },
  parameters: { weight: 0.35, typicalLength: 80, lengthPenalty: 0.9 },
};

/** The constants of the ranking. They were chosen with the queries that are not held out. */
export const RANKING = {
  /** The weighted number of occurrences at which a term reaches half of its maximum strength. */
  saturation: 2.3,
  /** Maximum weight of a rare term. A rare word that occurs by accident does not decide alone. */
  maxRarity: 5,
  /** Weight of a synonym, of a longer word with the same beginning, and of a word with a typing error. */
  synonym: 0.8,
  prefix: 0.75,
  typo: 0.5,
  /** Weight of a compound of two words of the query, which also count alone. */
  compound: 0.5,
  /** Weight of a match with a term of the tool that another term of the query has matched already. */
  repeated: 0.5,
  /** For a term that occurs in no tool: the share of its rarest synonym in its weight. The rest is that of the commonest one. */
  rarestSynonym: 0.6,
  /** Strength at which a term counts as completely matched. */
  fullMatch: 0.35,
  /** Share of the score that depends on how much of the tool's name the query matches. */
  namePrecision: 0.45,
  /** Factor for a tool whose name has another kind of action than the query. */
  otherAction: 0.8,
  /** Factor for tools of other servers if the query names a server or its product. */
  otherServer: 0.55,
} as const;
