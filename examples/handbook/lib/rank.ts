import type { Section } from "./documents.ts";

export interface Hit {
  section: Section;
  score: number;
  /** The part of the text with the most matching words, in one line. */
  snippet: string;
}

/** Parameters of the ranking function Okapi BM25: saturation of repeated words (k1) and penalty for long sections (b). */
const saturation = 1.4;
const lengthWeight = 0.6;
/** The weight of a word in a heading, relative to a word in the text. */
const headingWeight = 4;

/** Returns the sections that match a query, best match first. */
export function rank(query: string, sections: readonly Section[], limit: number): Hit[] {
  const wanted = [...new Set(words(query))];
  if (wanted.length === 0) return [];
  const counted = sections.map((section) => ({ section, counts: countWords(section) }));
  const lengths = counted.map(({ counts }) => sum(counts.values()));
  const average = sum(lengths) / Math.max(1, lengths.length);
  const scores = counted.map(({ section, counts }, index) => {
    const length = 1 - lengthWeight + (lengthWeight * lengths[index]!) / average;
    const score = wanted.map((word) => {
      const frequency = counts.get(word) ?? 0;
      return (rarity(word, counted) * frequency * (saturation + 1)) / (frequency + saturation * length);
    });
    // A section with all words is more relevant than one with many occurrences of one word.
    return { section, score: (sum(score) * score.filter((points) => points > 0).length) / wanted.length };
  });
  return scores
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, limit)
    .map(({ section, score }) => ({
      section,
      score: Math.round(score * 100) / 100,
      snippet: snippetOf(section, wanted),
    }));
}

/** Returns the weight of a word: a word that occurs in few sections weighs more. */
function rarity(word: string, counted: readonly { counts: Map<string, number> }[]): number {
  const holding = counted.filter(({ counts }) => counts.has(word)).length;
  return Math.log(1 + (counted.length - holding + 0.5) / (holding + 0.5));
}

function countWords({ title, heading, text }: Section): Map<string, number> {
  const counts = new Map<string, number>();
  const add = (word: string, by: number): void => void counts.set(word, (counts.get(word) ?? 0) + by);
  for (const word of words(text)) add(word, 1);
  for (const word of words(`${title} ${heading}`)) add(word, headingWeight);
  return counts;
}

/** Returns the stems of the words of a text, without stop words. */
function words(text: string): string[] {
  return (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => !stopWords.has(word)).map(stem);
}

const stopWords = new Set(
  "a an and are as at be by do does for from how i if in is it not of on or our so that the this to we what when who with".split(
    " ",
  ),
);

/** Removes English endings, so that reviews, reviewed and reviewing have the same stem. */
function stem(word: string): string {
  if (word.length < 5) return word.replace(/^(\w{3})s$/, "$1");
  return word
    .replace(/(?:ies|ied)$/, "y")
    .replace(/(?:ing|ed|es|s)$/, "")
    .replace(/e$/, "");
}

function snippetOf({ text }: Section, wanted: readonly string[]): string {
  const lines = text.split(/\n(?=\n|[-|\d])/).map((line) => line.replaceAll(/[\s|]+/g, " ").trim());
  const matching = (line: string): number => words(line).filter((word) => wanted.includes(word)).length;
  const best = lines.reduce((a, b) => (matching(b) > matching(a) ? b : a), "");
  return best.length <= 240 ? best : `${best.slice(0, 237).trimEnd()}...`;
}

function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
