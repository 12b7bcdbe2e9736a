/** Few property names, strings and numbers, so that random schemas and random values often meet. */
export const names = ["a", "b", "ab", "c1", "constructor", "x/y~z"] as const;

/** Patterns, each with strings that match. None of them backtracks. */
export const patterns: Readonly<Record<string, readonly string[]>> = {
  "^a": ["a", "ab"],
  b$: ["b", "ab"],
  "\\d": ["c1", "1"],
  "^[a-c]+$": ["abc", "b"],
  "^.{2,3}$": ["ab", "😀é"],
  "^\\p{L}+$": ["é", "abc"],
  "^(x|y)?/": ["x/y~z", "/"],
};

export const strings = ["", "a", "b", "ab", "abc", "c1", "1", "é", "😀", "😀é", "x/y~z"] as const;

export const numbers = [-1, 0, 0.5, 1, 2, 2.5, 3, 4, 10, 1e3, -0.5] as const;

/** Values that occur in `enum`, `const` and among the values to validate. */
export const samples: readonly unknown[] = [
  null,
  true,
  false,
  ...numbers,
  ...strings,
  [],
  {},
  [1],
  ["1"],
  [1, 2],
  [2, 1],
  [true],
  [[]],
  [{}],
  [null, [1, { a: 1 }]],
  { a: 1 },
  { a: "1" },
  { a: 1, b: 2 },
  { b: 2, a: 1 },
  { a: { b: [1, 2] } },
  { a: { b: [2, 1] } },
  { constructor: 1 },
];
