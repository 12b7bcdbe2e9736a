/** A deterministic source of random choices. */
export interface Random {
  /** Returns an integer from 0 to `end` - 1. */
  below(end: number): number;
  /** Returns true with the given probability. */
  chance(probability: number): boolean;
  /** Returns one of the elements. The list must not be empty. */
  pick<T>(list: readonly T[]): T;
}

/** Returns the random choices of a seed (mulberry32). */
export function randomOf(seed: number): Random {
  let state = seed | 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (end: number): number => Math.floor(next() * end);
  return { below, chance: (probability) => next() < probability, pick: (list) => list[below(list.length)]! };
}
