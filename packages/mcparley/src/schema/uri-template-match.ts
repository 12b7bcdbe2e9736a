import { decodePercent } from "./percent-encoding.ts";
import {
  type LiteralStep,
  type PairsStep,
  type Step,
  type TemplatePart,
  type ValueStep,
  type Variable,
  firstCharacters,
  toSteps,
} from "./uri-template-parse.ts";

/** The values found in a URI. Has no prototype, so that any variable name is safe. */
export type TemplateMatch = Record<string, string | string[]>;

/** Returns the values in a URI, or undefined if it does not match. */
export type Matcher = (uri: string) => TemplateMatch | undefined;

/** Maximum number of UTF-16 units of a URI. Longer ones do not match. */
export const MAX_URI_LENGTH = 65_536;

/**
 * Matches any template in two passes. The first pass goes from the last step of the template to the first. For each
 * position of the URI, it stores the end of the step that starts at this position, if the rest of the template matches
 * after that end. The second pass reads the values, from the first step to the last. Nothing is tried twice, so the time is
 * linear in the length of the URI, and no possible split is missed.
 */
export function scanningMatcher(parts: readonly TemplatePart[]): Matcher {
  const steps = toSteps(parts);
  const starts = steps[0]?.kind === "literal" ? steps[0].texts : [""];
  return (uri) => {
    if (uri.length > MAX_URI_LENGTH || !starts.some((start) => uri.startsWith(start))) return undefined;
    let next = noEnds(uri);
    next[uri.length] = uri.length;
    const ends = steps.toReversed().map((step) => (next = endsOf(step, uri, next)));
    return next[0]! < 0 ? undefined : collect(steps, ends.toReversed(), uri);
  };
}

function noEnds(uri: string): Int32Array {
  return new Int32Array(uri.length + 1).fill(-1);
}

/**
 * Returns the end of a step for each position of the URI at which it may start, or -1 if the rest of the template does not
 * match after the step. `next` has the ends of the following step.
 */
function endsOf(step: Step, uri: string, next: Int32Array): Int32Array {
  if (step.kind === "literal") return literalEnds(step, uri, next);
  return step.kind === "value" ? valueEnds(step, uri, next) : pairsEnds(step, uri, next);
}

function literalEnds({ texts }: LiteralStep, uri: string, next: Int32Array): Int32Array {
  const ends = noEnds(uri);
  for (const text of texts) {
    for (let start = uri.indexOf(text); start >= 0; start = uri.indexOf(text, start + 1)) {
      const end = start + text.length;
      if (next[end]! >= 0) ends[start] = end;
    }
  }
  return ends;
}

function valueEnds({ prefix, stops }: ValueStep, uri: string, next: Int32Array): Int32Array {
  const nearest = nearestEnds(uri, next, stops);
  const ends = noEnds(uri);
  for (let position = uri.length; position >= 0; position--) {
    if (prefix === "") {
      if (position < uri.length && !stops.includes(uri.charAt(position)))
        ends[position] = nearest[position + widthAt(uri, position)]!;
    } else {
      const present = uri[position] === prefix ? nearest[position + 1]! : -1;
      ends[position] = present >= 0 || next[position]! < 0 ? present : position;
    }
  }
  return ends;
}

/** Returns for each position the nearest end of a value that starts there, such that the next step matches after it. */
function nearestEnds(uri: string, next: Int32Array, stops: string): Int32Array {
  const nearest = noEnds(uri);
  for (let position = uri.length; position >= 0; position--) {
    if (next[position]! >= 0) nearest[position] = position;
    else if (position < uri.length && !stops.includes(uri.charAt(position)))
      nearest[position] = nearest[position + widthAt(uri, position)]!;
  }
  return nearest;
}

/** Returns the length of the character at a position. A value must not end between the percent-encoded bytes of one. */
function widthAt(uri: string, position: number): number {
  const lead = byteAt(uri, position);
  if (lead < 0) return 1;
  // The first byte of UTF-8 determines the number of bytes. Invalid UTF-8 is refused when it is decoded.
  const bytes = lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  let width = 3;
  while (width < 3 * bytes && byteAt(uri, position + width) >> 6 === 0b10) width += 3;
  return width;
}

/** Returns the byte of the percent-encoded triplet at a position, or -1. */
function byteAt(uri: string, position: number): number {
  if (uri.charAt(position) !== "%") return -1;
  const digits = uri.slice(position + 1, position + 3);
  return /^[\dA-Fa-f]{2}$/.test(digits) ? Number.parseInt(digits, 16) : -1;
}

function pairsEnds(
  { names, catchAll, openers, separator, stops }: PairsStep,
  uri: string,
  next: Int32Array,
): Int32Array {
  const nearest = nearestEnds(uri, next, stops);
  const ends = noEnds(uri);
  const longest = Math.max(...[...names.keys()].map((name) => name.length));
  // For each position, the end of the pair that starts there, together with the pairs after it.
  const chains = noEnds(uri);
  let stop = uri.length;
  let equals = uri.length;
  for (let position = uri.length; position >= 0; position--) {
    const char = uri.charAt(position);
    const isOpener = char !== "" && openers.includes(char);
    if (isOpener || char === separator) {
      const nameEnd = Math.min(stop, equals);
      // The length is compared first, because a slice of the name at every position would take quadratic time.
      const isKnown = nameEnd - position - 1 <= longest && names.has(uri.slice(position + 1, nameEnd));
      // More pairs are preferred to leaving them to the next step.
      const further = uri[stop] === separator ? chains[stop]! : -1;
      if (isKnown || catchAll) chains[position] = further >= 0 ? further : nearest[nameEnd]!;
    }
    const chainEnd = isOpener ? chains[position]! : -1;
    ends[position] = chainEnd >= 0 || next[position]! < 0 ? chainEnd : position;
    if (char === "=") equals = position;
    if (char !== "" && stops.includes(char)) {
      stop = position;
      equals = uri.length;
    }
  }
  return ends;
}

interface Found {
  readonly values: TemplateMatch;
  readonly prefixes: { readonly variable: Variable; readonly value: string }[];
}

function collect(steps: readonly Step[], ends: readonly Int32Array[], uri: string): TemplateMatch | undefined {
  const values: TemplateMatch = Object.create(null);
  const match: Found = { values, prefixes: [] };
  let position = 0;
  for (const [index, step] of steps.entries()) {
    const end = ends[index]![position]!;
    if (end !== position && !take(step, uri.slice(position, end), match)) return undefined;
    position = end;
  }
  const isConsistent = match.prefixes.every(({ variable, value }) => {
    const fullValue = (values[variable.name] ??= value);
    return typeof fullValue === "string" && firstCharacters(fullValue, variable.maxLength) === value;
  });
  return isConsistent ? values : undefined;
}

/** Reads the values of a step from its text. Returns false if they contradict each other or cannot be decoded. */
function take(step: Step, text: string, match: Found): boolean {
  if (step.kind === "literal") return true;
  if (step.kind === "pairs") return takePairs(step, text.slice(1), match);
  const value = text.slice(step.prefix.length);
  if (!step.variable.explode) return assign(match, step.variable, decodePercent(value));
  const items = value.split(step.separator).map(decodePercent);
  return items.every((item) => item !== undefined) && assign(match, step.variable, items);
}

function takePairs({ names, catchAll, separator }: PairsStep, text: string, match: Found): boolean {
  const lists = new Map<Variable, string[]>();
  const seenVariables = new Set<Variable>();
  for (const pair of text.split(separator)) {
    const [name = ""] = pair.split("=", 1);
    const variable = names.get(name) ?? catchAll;
    const value = decodePercent(variable === names.get(name) ? pair.slice(name.length + 1) : pair);
    if (variable === undefined || value === undefined) return false;
    if (variable.explode) {
      const list = lists.get(variable);
      if (list) list.push(value);
      else lists.set(variable, [value]);
    } else if (seenVariables.has(variable) || !assign(match, variable, value)) return false;
    seenVariables.add(variable);
  }
  return [...lists].every(([variable, list]) => assign(match, variable, list));
}

function assign({ values, prefixes }: Found, variable: Variable, value: string | string[] | undefined): boolean {
  if (value === undefined) return false;
  if (variable.maxLength !== undefined && typeof value === "string") {
    prefixes.push({ variable, value });
    return firstCharacters(value, variable.maxLength) === value;
  }
  const previous = values[variable.name];
  values[variable.name] = value;
  return previous === undefined || String(previous) === String(value);
}
