/** A compiled regular expression. */
interface Pattern {
  /** Returns the number of steps that a test of the text takes. */
  cost(text: string): number;
  test(text: string): boolean;
}

/** Compiles regular expressions. Returns undefined for one that it cannot evaluate. */
export type PatternEngine = (source: string) => Pattern | undefined;

/**
 * Compiles a pattern with the RegExp of the runtime, which can take exponential time for some patterns. Use it only for
 * patterns of the program's own author.
 */
export const nativePatterns: PatternEngine = (source) => {
  const regExp = toRegExp(source);
  return regExp && new NativePattern(regExp);
};

/** A class, because V8 inlines the methods of one class but not the closures of many patterns. */
class NativePattern implements Pattern {
  readonly #regExp: RegExp;

  constructor(regExp: RegExp) {
    this.#regExp = regExp;
  }

  cost(text: string): number {
    return 1 + (text.length >> 3);
  }

  test(text: string): boolean {
    return this.#regExp.test(text);
  }
}

/** Compiles a pattern with the flag `u`, or without it if that fails. Returns undefined if both fail. */
export function toRegExp(pattern: string): RegExp | undefined {
  for (const flags of ["u", ""]) {
    try {
      return new RegExp(pattern, flags);
    } catch {
      // Tried again without the flag.
    }
  }
  return undefined;
}
