import { decodePercent } from "./percent-encoding.ts";
import { MAX_URI_LENGTH, type Matcher, type TemplateMatch, scanningMatcher } from "./uri-template-match.ts";
import { type TemplatePart, encodeReserved, parseParts } from "./uri-template-parse.ts";

/** A parsed URI template (RFC 6570, levels 1 to 4). */
export interface UriTemplate {
  /** The text of the template. */
  readonly template: string;
  /** The names of its variables, each once, in order of appearance. */
  readonly variables: readonly string[];

  /**
   * Returns the values whose expansion is this URI. Returns undefined if there are none or if the URI is over 64 KiB.
   * Never throws. Takes time linear in the length of the URI.
   *
   * - Literal text is compared exactly; a literal that a URI cannot contain also matches its percent-encoded form.
   * - Values are percent-decoded. A value may contain "/" or "..", because the URI may contain "%2F" or "..": check it
   *   before you use it as a path. A value that is not valid UTF-8 does not match.
   * - `{x}` and `{+x}` take at least one character. `{x}`, `{.x}` and `{/x}` stop at "/", "?" and "#"; `{+x}` and `{#x}`
   *   have no such limit. Expressions with another operator than `+` may be missing, and their variables are then absent.
   * - The variables of `{?x,y}`, `{&x}` and `{;x}` are found in any order and may be missing; others do not match.
   * - Exploded variables (`{x*}`) are arrays. A `name=value` pair with another name than the variable's is one text.
   *   A list that was not exploded is one string, with its commas.
   * - If several splits are possible, variables on the left are as short as the rest allows: `{a}-{b}` on "1-2-3"
   *   has the values "1" and "2-3", and x of `{+x}{+y}` has one character. Optional variables on the left have
   *   precedence over those on the right.
   * - A variable that occurs twice must have the same value in both places; a prefix (`{x:1}`) must begin the whole.
   */
  match(uri: string): TemplateMatch | undefined;
}

/**
 * Parses a URI template. Throws a SyntaxError with the position and the reason if it is malformed, is longer than
 * 8 KiB, or has more than 64 expressions or 128 variables.
 */
export function parseTemplate(template: string): UriTemplate {
  const parts = parseParts(template);
  const names = parts.flatMap((part) => (typeof part === "string" ? [] : part.variables.map(({ name }) => name)));
  return {
    template,
    variables: [...new Set(names)],
    match: tailMatcher(parts) ?? scanningMatcher(parts),
  };
}

/**
 * Matches the most common templates, a literal text and one variable such as `note://{id}`, in a tenth of the time of a
 * scan. Returns undefined for any other template.
 */
function tailMatcher([start, tail, ...more]: readonly TemplatePart[]): Matcher | undefined {
  if (typeof start !== "string" || typeof tail !== "object" || more.length > 0) return undefined;
  const { operator, variables } = tail;
  const [variable, ...moreVariables] = variables;
  if (!variable || moreVariables.length > 0 || variable.explode || variable.maxLength !== undefined) return undefined;
  if (operator.first !== "" || operator.keepsReserved || encodeReserved(start) !== start) return undefined;
  return (uri) => {
    if (uri.length > MAX_URI_LENGTH || uri.length === start.length || !uri.startsWith(start)) return undefined;
    const text = uri.slice(start.length);
    const value = /[/?#]/.test(text) ? undefined : decodePercent(text);
    if (value === undefined) return undefined;
    const values: TemplateMatch = Object.create(null);
    values[variable.name] = value;
    return values;
  };
}
