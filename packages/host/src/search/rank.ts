import type { CatalogueTool } from "../catalogue/catalogue.ts";
import { actionsOfQuery } from "./actions.ts";
import { type IndexedTool, type SearchIndex, RANKING } from "./search-index.ts";
import { type SimilarTerm, similarTerms } from "./synonyms.ts";
import { STOP_WORDS, queryWords, stem } from "./words.ts";

/** A tool that matches a query. */
export interface ToolMatch {
  readonly tool: CatalogueTool;
  /** The relevance. Only its order has a meaning, and only within one search. */
  readonly score: number;
}

/** The maximum length of a query in characters. The rest is ignored. */
const MAX_QUERY = 500;

/** The match of a query with one tool. */
interface Hit {
  score: number;
  /** The sum of the rarities of the matched terms of the query. */
  coverage: number;
  /** The sum of the rarities of the matched terms of the tool's name. */
  nameCoverage: number;
  /** The terms of the tool that matched. */
  readonly usedTerms: string[];
}

/** The state of one search. */
interface Search {
  readonly index: SearchIndex;
  readonly hits: Map<IndexedTool, Hit>;
  /** Returns the weight of a term. A term that fewer tools have weighs more. */
  readonly rarityOf: (term: string) => number;
  /** The servers that the query names. */
  readonly servers: Set<string>;
}

/**
 * Returns the tools that match the query best, with the best one first.
 *
 * The score is a BM25 over the fields of a tool. It also depends on the share of the query and of the tool's name that match, on the kind
 * of action, and on the server that the query names.
 */
export function rank(index: SearchIndex, query: string, limit: number): ToolMatch[] {
  const words = queryWords(query.slice(0, MAX_QUERY), (term) => index.matches(term) !== undefined);
  const search: Search = { index, hits: new Map(), rarityOf: rarities(index), servers: new Set() };
  const terms = termsOf(index, words);
  let total = 0;
  for (const [term, factor] of terms) total += addTerm(search, term, factor);
  const actions = actionsOfQuery(words);
  const matches = [...search.hits].map(([tool, hit]) => ({
    tool,
    score: scoreOf(search, tool, { hit, total, actions }),
  }));
  matches.sort((first, second) => second.score - first.score || first.tool.position - second.tool.position);
  return withOtherServer(matches, limit).map(({ tool, score }) => ({ tool: tool.entry, score }));
}

/** Returns the terms of a query with their weights, and the compounds of neighbours that occur in the index, such as "localstorage". */
function termsOf(index: SearchIndex, words: readonly string[]): Map<string, number> {
  // Numbers are usually values of arguments.
  const meaningful = words.filter((word) => !STOP_WORDS.has(word) && !/^\d+$/.test(word));
  const terms = new Map((meaningful.length > 0 ? meaningful : words).map((word) => [stem(word), 1]));
  for (let place = 0; place + 1 < words.length; place++) {
    const compound = stem(`${words[place]}${words[place + 1]}`);
    if (index.matches(compound) !== undefined && !terms.has(compound)) terms.set(compound, RANKING.compound);
  }
  return terms;
}

/** Adds the matches of one term of the query. Returns the weight of the term. */
function addTerm(search: Search, term: string, factor: number): number {
  const { index, hits, rarityOf } = search;
  const similar = similarTerms(index, term);
  if (similar.length === 0) return 0;
  const rarity = rarityOfTerm(search, term, similar);
  noteServer(search, term, similar);

  const best = new Map<IndexedTool, { score: number; nameCoverage: number; matchedTerm: string }>();
  for (const { term: similarTerm, weight } of similar) {
    const otherRarity = rarityOf(similarTerm);
    for (const [tool, { strength, isInName }] of index.matches(similarTerm) ?? []) {
      const match = best.get(tool) ?? { score: 0, nameCoverage: 0, matchedTerm: "" };
      const score = weight * Math.min(rarity, otherRarity) * strength;
      if (score > match.score) {
        match.score = score;
        match.matchedTerm = similarTerm;
      }
      if (isInName) match.nameCoverage = Math.max(match.nameCoverage, weight * otherRarity);
      best.set(tool, match);
    }
  }
  for (const [tool, { score: full, nameCoverage, matchedTerm }] of best) {
    const hit = hits.get(tool) ?? { score: 0, coverage: 0, nameCoverage: 0, usedTerms: [] };
    const score = hit.usedTerms.includes(matchedTerm) ? full * RANKING.repeated : full;
    hit.usedTerms.push(matchedTerm);
    hit.score += score * factor;
    hit.coverage += Math.min(1, score / (rarity * RANKING.fullMatch)) * rarity * factor;
    hit.nameCoverage += nameCoverage;
    hits.set(tool, hit);
  }
  return rarity * factor;
}

/** The final score of a tool. */
function scoreOf(
  { rarityOf, servers }: Search,
  tool: IndexedTool,
  { hit, total, actions }: { hit: Hit; total: number; actions: readonly string[] },
): number {
  const coverage = hit.coverage / total;
  const nameTotal = tool.nameTerms.reduce((sum, term) => sum + rarityOf(term), 0);
  const namePart = nameTotal === 0 ? 0 : Math.min(1, hit.nameCoverage / nameTotal);
  const precision = 1 - RANKING.namePrecision + RANKING.namePrecision * namePart;
  const isOtherAction =
    actions.length > 0 && tool.actions.size > 0 && !actions.some((action) => tool.actions.has(action));
  const isOtherServer = servers.size > 0 && !servers.has(tool.entry.server);
  return (
    hit.score *
    coverage *
    precision *
    (isOtherAction ? RANKING.otherAction : 1) *
    (isOtherServer ? RANKING.otherServer : 1)
  );
}

/** Returns a function that calculates the weight of each term once. */
function rarities(index: SearchIndex): (term: string) => number {
  const raritiesByTerm = new Map<string, number>();
  return (term) => {
    let rarity = raritiesByTerm.get(term);
    if (rarity === undefined) {
      const count = index.matches(term)?.size ?? 0;
      rarity = Math.min(RANKING.maxRarity, Math.log(1 + (index.size - count + 0.5) / (count + 0.5)));
      raritiesByTerm.set(term, rarity);
    }
    return rarity;
  };
}

/** Returns the weight of a term of the query. A term that occurs in no tool has a weight between those of its synonyms. */
function rarityOfTerm({ index, rarityOf }: Search, term: string, similar: readonly SimilarTerm[]): number {
  if (index.matches(term) !== undefined) return rarityOf(term);
  const all = similar.map((synonym) => rarityOf(synonym.term));
  return RANKING.rarestSynonym * Math.max(...all) + (1 - RANKING.rarestSynonym) * Math.min(...all);
}

/** Notes the server that a term names: its tools are most of those with the term in the name, and many of them have it. */
function noteServer(search: Search, term: string, similar: readonly SimilarTerm[]): void {
  const candidates = search.index.matches(term) === undefined ? similar.map((synonym) => synonym.term) : [term];
  for (const candidate of candidates) {
    const server = serverNamedBy(search.index, candidate);
    if (server === undefined) continue;
    search.servers.add(server);
    return;
  }
}

function serverNamedBy(index: SearchIndex, term: string): string | undefined {
  const counts = new Map<string, number>();
  let total = 0;
  for (const [{ entry }, { isInName, isInServer }] of index.matches(term) ?? []) {
    if (!isInName && !isInServer) continue;
    counts.set(entry.server, (counts.get(entry.server) ?? 0) + 1);
    total++;
  }
  for (const [server, count] of counts) {
    if (count >= 0.8 * total && count >= 0.3 * index.sizeOfServer(server)) return server;
  }
  return undefined;
}

/** Share of the best score from which a tool of another server is kept. */
const OTHER_SERVER_SHARE = 0.5;

/** Cuts the list to the limit. The last place is for another server, if one server has all places and another has a good match. */
function withOtherServer<M extends { tool: IndexedTool; score: number }>(matches: readonly M[], limit: number): M[] {
  const bestMatches = matches.slice(0, limit);
  const [best] = bestMatches;
  if (best === undefined || bestMatches.length < 2 || bestMatches.length < limit) return bestMatches;
  const { server } = best.tool.entry;
  if (bestMatches.some(({ tool }) => tool.entry.server !== server)) return bestMatches;
  const alternative = matches.find(({ tool }) => tool.entry.server !== server);
  if (alternative === undefined || alternative.score < best.score * OTHER_SERVER_SHARE) return bestMatches;
  return [...bestMatches.slice(0, -1), alternative];
}
