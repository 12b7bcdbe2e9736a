import {
  type TemplatePart,
  type Variable,
  encodeReserved,
  firstCharacters,
  parseParts,
} from "../../packages/mcparley/src/schema/uri-template-parse.ts";

type Expression = Exclude<TemplatePart, string>;
type Operator = Expression["operator"];

type Scalar = string | number | boolean;
type Missing = null | undefined;

/** The value of a variable. Missing values, empty lists and empty objects count as undefined. */
type TemplateValue = Scalar | Missing | readonly (Scalar | Missing)[] | { readonly [key: string]: Scalar | Missing };

export type TemplateValues = { readonly [name: string]: TemplateValue };

/**
 * Returns the URI with the given values (RFC 6570 section 3). A variable without a value is left out. Throws for a list or
 * an object as the value of a variable with a prefix modifier (`{name:3}`).
 *
 * The library only matches templates. Tests expand them to find URIs that must match.
 */
export function expandTemplate(template: string, values: TemplateValues): string {
  return parseParts(template)
    .map((part) => (typeof part === "string" ? encodeReserved(part) : expandExpression(part, values)))
    .join("");
}

function expandExpression({ operator, variables }: Expression, values: TemplateValues): string {
  const written = variables.flatMap((variable) => {
    // Own properties only, because a variable may be called "constructor".
    const value = Object.hasOwn(values, variable.name) ? values[variable.name] : undefined;
    return expandVariable(operator, variable, value);
  });
  return written.length === 0 ? "" : operator.first + written.join(operator.separator);
}

/** Returns the parts that the operator's separator joins: no parts for an undefined value, several only if exploded. */
function expandVariable(operator: Operator, variable: Variable, value: TemplateValue): string[] {
  if (value === undefined || value === null) return [];
  const encode = operator.keepsReserved ? encodeReserved : encodeUnreserved;
  if (typeof value !== "object") {
    const text = String(value);
    return [named(operator, variable.name, encode(firstCharacters(text, variable.maxLength)))];
  }
  if (variable.maxLength !== undefined) {
    throw new TypeError(`"${variable.name}:${variable.maxLength}" can only take a string, not a list or an object`);
  }
  if (Array.isArray(value))
    return expandList(
      operator,
      variable,
      value.filter(isPresent).map((item) => encode(String(item))),
    );
  const pairs = Object.entries(value as { readonly [key: string]: Scalar | Missing })
    .filter(([, entry]) => isPresent(entry))
    .map(([key, entry]) => [encode(key), encode(String(entry))] as const);
  return expandPairs(operator, variable, pairs);
}

function expandList(operator: Operator, { name, explode }: Variable, items: readonly string[]): string[] {
  if (items.length === 0) return [];
  return explode ? items.map((item) => named(operator, name, item)) : [named(operator, name, items.join(","))];
}

function expandPairs(
  operator: Operator,
  { name, explode }: Variable,
  pairs: readonly (readonly [string, string])[],
): string[] {
  if (pairs.length === 0) return [];
  if (!explode) return [named(operator, name, pairs.flat().join(","))];
  return pairs.map(([key, value]) => (operator.isNamed ? named(operator, key, value) : `${key}=${value}`));
}

function named(operator: Operator, name: string, value: string): string {
  if (!operator.isNamed) return value;
  // The parameters of a path have no "=" if they are empty; those of a query do.
  return value === "" && operator.separator === ";" ? name : `${name}=${value}`;
}

function isPresent(value: Scalar | Missing): value is Scalar {
  return value !== undefined && value !== null;
}

/** Encodes all but unreserved characters. encodeURIComponent follows RFC 2396 and keeps five more characters. */
function encodeUnreserved(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, "\uFFFD")).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
