import type { SearchIndex } from "./search-index.ts";
import { synonymsOf } from "./synonyms.ts";
import { RANKING } from "./weights.ts";

/** A term of the index that stands for a term of the query, with a weight from 0 to 1. */
export interface SimilarTerm {
  readonly term: string;
  readonly weight: number;
}

/** The maximum number of characters by which a word can be longer than the query's word. */
const MAX_SUFFIX = 4;

/** Returns the terms of the index that match a term of a query: the term itself, synonyms, longer words, and words with a typing error. */
export function similarTerms(index: SearchIndex, term: string): SimilarTerm[] {
  const found = new Map<string, number>();
  const add = (other: string, weight: number): void => {
    if (!found.has(other)) found.set(other, weight);
  };
  const isKnown = index.matches(term) !== undefined;
  if (isKnown) add(term, 1);
  for (const synonym of synonymsOf(term)) if (index.matches(synonym) !== undefined) add(synonym, RANKING.synonym);
  if (term.length >= 4) {
    for (const other of index.vocabulary()) {
      if (other.startsWith(term) && other.length - term.length <= MAX_SUFFIX) add(other, RANKING.prefix);
      else if (!isKnown && isTypo(term, other)) add(other, RANKING.typo);
    }
  }
  return [...found].map(([other, weight]) => ({ term: other, weight }));
}

/** Whether the terms differ by one edit, or by two from 8 characters. The first characters are equal. */
function isTypo(term: string, other: string): boolean {
  if (term.length < 5 || term[0] !== other[0] || /\d/.test(term)) return false;
  const max = term.length >= 8 ? 2 : 1;
  return Math.abs(term.length - other.length) <= max && distance(term, other) <= max;
}

/** Returns the number of insertions, deletions, replacements and swaps of neighbours between two terms. */
function distance(from: string, to: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const isEqual = from[row - 1] === to[column - 1];
      const edits = [
        at(previous, column) + 1,
        at(current, column - 1) + 1,
        at(previous, column - 1) + (isEqual ? 0 : 1),
      ];
      const isSwap = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (isSwap) edits.push(at(beforePrevious, column - 2) + 1);
      current.push(Math.min(...edits));
    }
    beforePrevious = previous;
    previous = current;
  }
  return at(previous, to.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Number.POSITIVE_INFINITY;
}
