import {
  type Expression,
  type Operator,
  type TemplatePart,
  UriTemplateError,
  type Variable,
} from "./uri-template-parse.ts";

type Scalar = string | number | boolean;
type Missing = null | undefined;

/** The value of a variable. Missing values, empty lists and empty objects count as undefined. */
type TemplateValue = Scalar | Missing | readonly (Scalar | Missing)[] | { readonly [key: string]: Scalar | Missing };

export type TemplateValues = { readonly [name: string]: TemplateValue };

export function expandTemplate(parts: readonly TemplatePart[], values: TemplateValues): string {
  return parts
    .map((part) => (typeof part === "string" ? encodeReserved(part) : expandExpression(part, values)))
    .join("");
}

function expandExpression({ operator, variables, position }: Expression, values: TemplateValues): string {
  const written = variables.flatMap((variable) => {
    // Own properties only, because a variable may be called "constructor".
    const value = Object.hasOwn(values, variable.name) ? values[variable.name] : undefined;
    return expandVariable(operator, variable, value, position);
  });
  return written.length === 0 ? "" : operator.first + written.join(operator.separator);
}

/** Returns the parts that the operator's separator joins: none for an undefined value, several only if exploded. */
// oxlint-disable-next-line max-params
function expandVariable(operator: Operator, variable: Variable, value: TemplateValue, position: number): string[] {
  if (value === undefined || value === null) return [];
  const encode = operator.reserved ? encodeReserved : encodeUnreserved;
  if (typeof value !== "object") {
    const text = String(value);
    return [named(operator, variable.name, encode(firstCharacters(text, variable.maxLength)))];
  }
  if (variable.maxLength !== undefined) {
    throw new UriTemplateError(
      position,
      `"${variable.name}:${variable.maxLength}" can only take a string, not a list or an object`,
    );
  }
  if (Array.isArray(value)) return expandList(operator, variable, presentValues(value).map(encode));
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
  return pairs.map(([key, value]) => (operator.named ? named(operator, key, value) : `${key}=${value}`));
}

function named(operator: Operator, name: string, value: string): string {
  if (!operator.named) return value;
  return value === "" ? name + operator.ifEmpty : `${name}=${value}`;
}

function presentValues(values: readonly (Scalar | Missing)[]): string[] {
  return values.filter(isPresent).map(String);
}

function isPresent(value: Scalar | Missing): value is Scalar {
  return value !== undefined && value !== null;
}

/** Returns the prefix of a text. It counts Unicode characters, so that none is cut in half (RFC 6570 section 2.4.1). */
export function firstCharacters(text: string, count: number | undefined): string {
  return count === undefined ? text : Array.from(text).slice(0, count).join("");
}

/** Encodes all but unreserved characters. encodeURIComponent follows RFC 2396 and keeps five more. */
function encodeUnreserved(text: string): string {
  return encodeURIComponent(wellFormed(text)).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Encodes all but reserved characters, unreserved characters and percent-encoded triplets. */
export function encodeReserved(text: string): string {
  // encodeURI keeps the reserved characters of RFC 2396, which lack the brackets. Each "%25XX" was a triplet before.
  return encodeURI(wellFormed(text)).replace(/%5B|%5D|%25([0-9A-Fa-f]{2})/g, (match, triplet: string | undefined) =>
    triplet === undefined ? decodeURIComponent(match) : `%${triplet}`,
  );
}

/** Replaces halves of surrogate pairs, which have no UTF-8 form and make the encoders throw. */
function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "\uFFFD");
}
