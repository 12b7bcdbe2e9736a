import type { LiteralStep, PairsStep, ValueStep } from "./uri-match-steps.ts";

// Each function gives, for every position of the URI, where the step ends when it begins there and the rest fits after
// it, or -1. `next` says the same of the step that follows. All take time linear in the URI.

const PERCENT = 0x25;

export function literalEnds({ texts }: LiteralStep, uri: string, next: Int32Array): Int32Array {
  const ends = new Int32Array(uri.length + 1).fill(-1);
  for (const text of texts) {
    for (const start of occurrences(text, uri)) {
      const end = start + text.length;
      if ((next[end] as number) >= 0) ends[start] = end;
    }
  }
  return ends;
}

/** Knuth, Morris and Pratt's search: unlike indexOf, linear also for text that keeps almost occurring. */
function* occurrences(text: string, uri: string): Generator<number> {
  const fallback = new Int32Array(text.length + 1);
  for (let index = 1, length = 0; index < text.length; index++) {
    while (length > 0 && text[index] !== text[length]) length = fallback[length] as number;
    if (text[index] === text[length]) length++;
    fallback[index + 1] = length;
  }
  for (let index = 0, length = 0; index < uri.length; index++) {
    while (length > 0 && uri[index] !== text[length]) length = fallback[length] as number;
    if (uri[index] === text[length]) length++;
    if (length === text.length) yield index + 1 - length;
  }
}

export function valueEnds({ prefix, stops }: ValueStep, uri: string, next: Int32Array): Int32Array {
  const nearest = nearestEnds(uri, next, stops);
  const ends = new Int32Array(uri.length + 1).fill(-1);
  for (let at = uri.length; at >= 0; at--) {
    if (prefix === "") {
      // At least one character.
      if (at < uri.length && !stops.includes(uri[at] as string)) ends[at] = nearest[at + widthAt(uri, at)] as number;
    } else {
      const present = uri[at] === prefix ? (nearest[at + 1] as number) : -1;
      ends[at] = present >= 0 || (next[at] as number) < 0 ? present : at;
    }
  }
  return ends;
}

/** For every position the nearest one, at or after it, where the next step fits and which a value may reach. */
function nearestEnds(uri: string, next: Int32Array, stops: string): Int32Array {
  const nearest = new Int32Array(uri.length + 1).fill(-1);
  for (let at = uri.length; at >= 0; at--) {
    if ((next[at] as number) >= 0) nearest[at] = at;
    else if (at < uri.length && !stops.includes(uri[at] as string))
      nearest[at] = nearest[at + widthAt(uri, at)] as number;
  }
  return nearest;
}

/** All percent-encoded bytes of one character belong together: a value must not end within it. */
function widthAt(uri: string, at: number): number {
  const lead = byteAt(uri, at);
  if (lead < 0) return 1;
  // UTF-8 tells the number of bytes in the first one. What is not UTF-8 is found out when it is decoded.
  const bytes = lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  let width = 3;
  while (width < 3 * bytes && byteAt(uri, at + width) >> 6 === 0b10) width += 3;
  return width;
}

/** The byte of the percent-encoded triplet at a position, or -1. */
function byteAt(uri: string, at: number): number {
  if (uri.charCodeAt(at) !== PERCENT) return -1;
  const digits = uri.slice(at + 1, at + 3);
  return /^[\dA-Fa-f]{2}$/.test(digits) ? Number.parseInt(digits, 16) : -1;
}

export function pairsEnds(step: PairsStep, uri: string, next: Int32Array): Int32Array {
  const { stops, separator, openers } = step;
  const nearest = nearestEnds(uri, next, stops);
  const ends = new Int32Array(uri.length + 1).fill(-1);
  const longest = Math.max(...[...step.names.keys()].map((name) => name.length));
  // Where a pair that is opened at a position ends, together with the pairs that follow it.
  const chains = new Int32Array(uri.length + 1).fill(-1);
  let stop = uri.length;
  let equals = uri.length;
  for (let at = uri.length; at >= 0; at--) {
    const char = uri[at] ?? "";
    if (char !== "" && (char === separator || openers.includes(char))) {
      const nameEnd = Math.min(stop, equals);
      // The length comes first: cutting out a name at every position would take quadratic time.
      const isKnown =
        step.rest !== undefined || (nameEnd - at - 1 <= longest && step.names.has(uri.slice(at + 1, nameEnd)));
      if (isKnown)
        chains[at] = chainEnd(uri[stop] === separator ? (chains[stop] as number) : -1, nearest[nameEnd] as number);
    }
    const opened = openers.includes(char) && char !== "" ? (chains[at] as number) : -1;
    ends[at] = opened >= 0 || (next[at] as number) < 0 ? opened : at;
    if (char === "=") equals = at;
    if (char !== "" && stops.includes(char)) {
      stop = at;
      equals = uri.length;
    }
  }
  return ends;
}

/** More pairs are preferred to leaving them to what follows. */
function chainEnd(further: number, here: number): number {
  return further >= 0 ? further : here;
}
