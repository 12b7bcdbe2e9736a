import { expandTemplate } from "./uri-template-expand.ts";
import type { TemplateValues } from "./uri-template-expand.ts";
import { createMatcher } from "./uri-template-match.ts";
import type { TemplateMatch } from "./uri-template-match.ts";
import { parseParts } from "./uri-template-parse.ts";

/** A parsed URI template (RFC 6570, levels 1 to 4). */
export interface UriTemplate {
  /** The template as it was written. */
  readonly template: string;
  /** The names of its variables, each once, in order of appearance. */
  readonly variables: readonly string[];

  /**
   * Puts values into the template (RFC 6570 section 3). A variable without a value is left out. Throws a
   * UriTemplateError when a prefix modifier (`{name:3}`) meets a list or an object.
   */
  expand(values: TemplateValues): string;

  /**
   * Finds the values that give this URI, or undefined when none do or the URI is over 64 KiB. Never throws. Takes time
   * proportional to the length of the URI times the number of variables, whatever the template and the URI.
   *
   * - Literal text is compared as it stands; a literal that a URI cannot hold also matches its percent-encoded form.
   * - Values come percent-decoded: one may hold "/" or ".." wherever "%2F" or ".." may stand in the URI, so check it
   *   before using it as a path. What is not valid UTF-8 when decoded does not match.
   * - `{x}` and `{+x}` take at least one character. `{x}`, `{.x}` and `{/x}` stop at "/", "?" and "#"; `{+x}` and `{#x}`
   *   stop nowhere. All expressions with an operator but `{+x}` may be missing, and their variables are then absent.
   * - The variables of `{?x,y}`, `{&x}` and `{;x}` are found in any order and may be missing; others do not match.
   * - Exploded variables (`{x*}`) give arrays; of a `name=value` pair whose name is not the variable's, the pair as text.
   *   A list that was not exploded gives one string, with its commas.
   * - Where several splits are possible, variables on the left take as little as the rest allows: `{a}-{b}` on "1-2-3"
   *   gives a "1" and b "2-3", and `{+x}{+y}` gives x one character. Optional variables on the left are preferred to
   *   those on the right.
   * - A variable that occurs twice must have the same value in both places; a prefix (`{x:1}`) must begin the whole.
   */
  match(uri: string): TemplateMatch | undefined;
}

/**
 * Parses a URI template. Throws a UriTemplateError with the position and the reason when it is malformed, longer than
 * 8 KiB, or has more than 64 expressions or 128 variables.
 */
export function parseTemplate(template: string): UriTemplate {
  const parts = parseParts(template);
  const names = parts.flatMap((part) => (typeof part === "string" ? [] : part.variables.map(({ name }) => name)));
  return {
    template,
    variables: [...new Set(names)],
    expand: (values) => expandTemplate(parts, values),
    match: createMatcher(parts),
  };
}
