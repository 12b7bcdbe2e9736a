import { compileSteps } from "./uri-match-steps.ts";
import type { PairsStep, Step, ValueStep } from "./uri-match-steps.ts";
import { literalEnds, pairsEnds, valueEnds } from "./uri-match-scan.ts";
import { firstCharacters } from "./uri-template-expand.ts";
import type { TemplatePart, Variable } from "./uri-template-parse.ts";

/** The values found in a URI. Has no prototype, so that any variable name is safe. */
export type TemplateMatch = Record<string, string | string[]>;

const MAX_URI_LENGTH = 64 * 1024;

/**
 * Prepares the inverse of expansion. From the last step back to the first, each notes for every position of the URI
 * where it ends if it begins there and all that follows fits; the way forward is then a look-up. There is nothing to
 * try twice, so the time is linear in the URI, and no split that exists is missed.
 */
export function createMatcher(parts: readonly TemplatePart[]): (uri: string) => TemplateMatch | undefined {
  const steps = compileSteps(parts);
  return tailMatcher(steps) ?? scanningMatcher(steps);
}

/**
 * The same for the template that most are, `note://{id}`: there is only one way in which its two steps can fit, which
 * takes a tenth of the time to see.
 */
function tailMatcher([first, last, ...more]: readonly Step[]):
  | ((uri: string) => TemplateMatch | undefined)
  | undefined {
  if (first?.kind !== "literal" || last?.kind !== "value" || more.length > 0) return undefined;
  const { texts } = first;
  const { variable, prefix, stops } = last;
  if (texts.length !== 1 || prefix !== "" || stops === "" || variable.explode || variable.maxLength !== undefined) {
    return undefined;
  }
  const start = texts[0] as string;
  const stop = new RegExp(`[${stops}]`);
  return (uri) => {
    if (uri.length > MAX_URI_LENGTH || uri.length === start.length || !uri.startsWith(start)) return undefined;
    const text = uri.slice(start.length);
    const value = stop.test(text) ? undefined : decode(text);
    if (value === undefined) return undefined;
    const values = Object.create(null) as TemplateMatch;
    values[variable.name] = value;
    return values;
  };
}

/** The inverse of the expansion of any steps. */
export function scanningMatcher(steps: readonly Step[]): (uri: string) => TemplateMatch | undefined {
  const [first] = steps;
  const starts = first?.kind === "literal" ? first.texts : [""];
  return (uri) => {
    if (uri.length > MAX_URI_LENGTH || !starts.some((start) => uri.startsWith(start))) return undefined;
    const ends = scan(steps, uri);
    return (ends[0]?.[0] ?? -1) < 0 ? undefined : collect(steps, ends, uri);
  };
}

function scan(steps: readonly Step[], uri: string): Int32Array[] {
  const finish = new Int32Array(uri.length + 1).fill(-1);
  finish[uri.length] = uri.length;
  const ends: Int32Array[] = [finish];
  for (const step of steps.toReversed()) ends.push(scanStep(step, uri, ends.at(-1) as Int32Array));
  return ends.toReversed();
}

function scanStep(step: Step, uri: string, next: Int32Array): Int32Array {
  if (step.kind === "literal") return literalEnds(step, uri, next);
  return step.kind === "value" ? valueEnds(step, uri, next) : pairsEnds(step, uri, next);
}

interface Found {
  readonly values: TemplateMatch;
  readonly prefixes: { readonly variable: Variable; readonly value: string }[];
}

function collect(steps: readonly Step[], ends: readonly Int32Array[], uri: string): TemplateMatch | undefined {
  const found: Found = { values: Object.create(null) as TemplateMatch, prefixes: [] };
  let position = 0;
  for (const [index, step] of steps.entries()) {
    const end = ends[index]?.[position] as number;
    const isTaken = end === position || take(step, uri.slice(position, end), found);
    if (!isTaken) return undefined;
    position = end;
  }
  return applyPrefixes(found) ? found.values : undefined;
}

/** Reads the values out of the text that a step covers; false when they contradict each other or cannot be decoded. */
function take(step: Step, text: string, found: Found): boolean {
  if (step.kind === "literal") return true;
  return step.kind === "value"
    ? takeValue(step, text.slice(step.prefix.length), found)
    : takePairs(step, text.slice(1), found);
}

function takeValue({ variable, separator }: ValueStep, text: string, found: Found): boolean {
  if (!variable.explode) return assign(found, variable, decode(text));
  const items = text.split(separator).map(decode);
  return items.every((item) => item !== undefined) && assign(found, variable, items);
}

function takePairs({ names, rest, separator }: PairsStep, text: string, found: Found): boolean {
  const lists = new Map<Variable, string[]>();
  const seen = new Set<Variable>();
  for (const pair of text.split(separator)) {
    const equals = pair.indexOf("=");
    const name = equals < 0 ? pair : pair.slice(0, equals);
    const variable = names.get(name) ?? rest;
    const value = decode(variable === names.get(name) ? pair.slice(name.length + 1) : pair);
    if (variable === undefined || value === undefined) return false;
    if (variable.explode) {
      const list = lists.get(variable);
      if (list) list.push(value);
      else lists.set(variable, [value]);
    } else if (seen.has(variable) || !assign(found, variable, value)) return false;
    seen.add(variable);
  }
  return [...lists].every(([variable, list]) => assign(found, variable, list));
}

function assign({ values, prefixes }: Found, variable: Variable, value: string | string[] | undefined): boolean {
  if (value === undefined) return false;
  if (variable.maxLength !== undefined && typeof value === "string") {
    prefixes.push({ variable, value });
    return firstCharacters(value, variable.maxLength) === value;
  }
  const known = values[variable.name];
  values[variable.name] = value;
  return known === undefined || String(known) === String(value);
}

function applyPrefixes({ values, prefixes }: Found): boolean {
  return prefixes.every(({ variable, value }) => {
    const whole = (values[variable.name] ??= value);
    return typeof whole === "string" && firstCharacters(whole, variable.maxLength) === value;
  });
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
