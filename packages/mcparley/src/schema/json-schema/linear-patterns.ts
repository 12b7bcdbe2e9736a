import { RE2JS } from "#re2js";
import type { PatternEngine } from "./patterns.ts";

/**
 * Maximum size of the patterns of one schema: characters times the largest repetition. Compilation takes 1 to 8 µs per unit.
 */
const MAX_SIZE = 10_000;

/**
 * Returns an engine that matches in time linear in the length of the text, for the patterns of one schema of a peer.
 *
 * It cannot evaluate look-around, back-references, or patterns that are too large. A test takes a step for eight
 * characters, times the size of the pattern's program.
 */
export function linearPatterns(): PatternEngine {
  let remainingSize = MAX_SIZE;
  return (source) => {
    remainingSize -= sizeOf(source);
    if (remainingSize < 0) return undefined;
    try {
      const pattern = RE2JS.compile(RE2JS.translateRegExp(source));
      const size = pattern.programSize();
      return { cost: (text) => 1 + Math.ceil((text.length * size) / 8), test: (text) => pattern.test(text) };
    } catch {
      return undefined;
    }
  };
}

/** The program of a pattern has a copy of the repeated part for each repetition. */
function sizeOf(source: string): number {
  const counts = source.matchAll(/\{(\d+)(?:,(\d*))?\}/g);
  const largest = Math.max(1, ...[...counts].map(([, min = "", max = ""]) => Number(max || min)));
  return source.length * largest;
}
