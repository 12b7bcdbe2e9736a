import { distance } from "fastest-levenshtein";

/** The known word that is most like `word`, where one is near enough to have been meant. */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  const typed = word.slice(0, 100).toLowerCase();
  const limit = Math.max(1, Math.ceil(typed.length / 3));
  let best: { candidate: string; apart: number } | undefined;
  for (const candidate of known) {
    const apart = distance(typed, candidate.toLowerCase());
    if (apart <= limit && (!best || apart < best.apart)) best = { candidate, apart };
  }
  return best?.candidate;
}

/** A sentence that helps after a word that is not known: the one that may have been meant, or all that there are. */
export function didYouMean(word: string, known: Iterable<string>): string {
  const words = [...known];
  const meant = nearest(word, words);
  if (meant !== undefined) return `Did you mean "${meant}"?`;
  if (words.length === 0) return "There are none.";
  const shown = words.slice(0, 12).join(", ");
  return words.length > 12 ? `Some of those there are: ${shown}.` : `There are: ${shown}.`;
}
