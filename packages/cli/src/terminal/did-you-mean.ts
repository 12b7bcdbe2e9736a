import { distance } from "fastest-levenshtein";

/** Returns the known word that is most similar to `word`, or undefined if none is similar enough. */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  const typed = word.slice(0, 100).toLowerCase();
  const limit = Math.max(1, Math.ceil(typed.length / 3));
  let best: { candidate: string; apart: number } | undefined;
  for (const candidate of known) {
    const apart = distance(typed, candidate.toLowerCase());
    const sharesCharacters = apart < Math.max(typed.length, candidate.length);
    if (apart <= limit && sharesCharacters && (!best || apart < best.apart)) best = { candidate, apart };
  }
  return best?.candidate;
}

/** Returns a hint for an unknown word: the word that was probably meant, or all known words. */
export function didYouMean(word: string, known: Iterable<string>): string {
  const words = [...known];
  const similar = nearest(word, words);
  if (similar !== undefined) return `Did you mean "${similar}"?`;
  if (words.length === 0) return "None are available.";
  const list = words.slice(0, 12).join(", ");
  return words.length > 12 ? `Available, among others: ${list}.` : `Available: ${list}.`;
}
