import type { Field } from "./tool-text.ts";

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
export const FIELDS: Readonly<Record<Field, FieldWeight>> = {
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
