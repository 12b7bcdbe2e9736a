import { distance } from "fastest-levenshtein";

/** The least number of characters with which a known word must begin to be suggested. */
const prefixLength = 3;

/** Returns the known word that is most similar to `word`, or the shortest one that begins with it. Undefined if there is none. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  const input = word.slice(0, 100).toLowerCase();
  const limit = Math.max(1, Math.ceil(input.length / 3));
  let best: { candidate: string; edits: number } | undefined;
  for (const candidate of candidates) {
    const edits = distance(input, candidate.toLowerCase());
    const sharesCharacters = edits < Math.max(input.length, candidate.length);
    if (edits <= limit && sharesCharacters && (!best || edits < best.edits)) best = { candidate, edits };
  }
  if (best || input.length < prefixLength) return best?.candidate;
  const longerWords = [...candidates].filter((candidate) => candidate.toLowerCase().startsWith(input));
  return longerWords.toSorted((a, b) => a.length - b.length)[0];
}

/** Returns a hint for an unknown word: the word that was probably meant, or all known words. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const words = [...candidates];
  const similar = nearest(word, words);
  if (similar !== undefined) return `Did you mean "${similar}"?`;
  if (words.length === 0) return "None are available.";
  const list = words.slice(0, 12).join(", ");
  return words.length > 12 ? `Available, among others: ${list}.` : `Available: ${list}.`;
}
