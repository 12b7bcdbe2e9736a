/** Thrown for a template that cannot be parsed. */
export class UriTemplateError extends Error {
  override readonly name: string = "UriTemplateError";
  /** Position in the template, counted in UTF-16 units from 0. */
  readonly position: number;
  readonly reason: string;

  constructor(position: number, reason: string) {
    super(`Invalid URI template at position ${position}: ${reason}.`);
    this.position = position;
    this.reason = reason;
  }
}

/** One variable of an expression, with its modifier: `{name:3}` (maxLength 3) or `{name*}` (explode). */
export interface Variable {
  readonly name: string;
  readonly maxLength: number | undefined;
  readonly explode: boolean;
}

/** The form in which an operator writes its variables (RFC 6570 appendix A). */
export interface Operator {
  /** The text before the first variable. */
  readonly first: string;
  /** The text between two variables. */
  readonly separator: string;
  /** Writes `name=value`. */
  readonly named: boolean;
  /** Keeps reserved characters and percent-encoded triplets. */
  readonly reserved: boolean;
}

/** An operator with its variables, such as `{?x,y}`. */
export interface Expression {
  readonly operator: Operator;
  readonly variables: readonly Variable[];
}

/** Literal text, or an expression. */
export type TemplatePart = string | Expression;

const MAX_TEMPLATE_LENGTH = 8 * 1024;
const MAX_EXPRESSIONS = 64;
const MAX_VARIABLES = 128;

const simple: Operator = { first: "", separator: ",", named: false, reserved: false };
// Bundlers leave this out of a server without resources.
const operators: ReadonlyMap<string, Operator> = /* @__PURE__ */ makeOperators();

function makeOperators(): ReadonlyMap<string, Operator> {
  return new Map([
    ["+", { ...simple, reserved: true }],
    ["#", { ...simple, first: "#", reserved: true }],
    [".", { ...simple, first: ".", separator: "." }],
    ["/", { ...simple, first: "/", separator: "/" }],
    [";", { ...simple, first: ";", separator: ";", named: true }],
    ["?", { ...simple, first: "?", separator: "&", named: true }],
    ["&", { ...simple, first: "&", separator: "&", named: true }],
  ]);
}

// Percent-encoded triplets are part of a name and are not decoded (RFC 6570 section 2.3).
const variablePattern = /^((?:\w|%[0-9A-Fa-f]{2})+(?:\.(?:\w|%[0-9A-Fa-f]{2})+)*)(?::([1-9]\d{0,3})|(\*))?$/;

/** Splits a template into its literal text and its expressions. */
export function parseParts(template: string): readonly TemplatePart[] {
  if (template.length > MAX_TEMPLATE_LENGTH) {
    throw new UriTemplateError(MAX_TEMPLATE_LENGTH, `at most ${MAX_TEMPLATE_LENGTH} characters are allowed`);
  }
  const parts: TemplatePart[] = [];
  let variables = 0;
  let expressions = 0;
  for (let position = 0; position < template.length;) {
    const open = endOfLiteral(template, position);
    if (open > position) parts.push(template.slice(position, open));
    if (open === template.length) break;
    const close = template.indexOf("}", open);
    if (close < 0) throw new UriTemplateError(open, 'this "{" is not closed');
    const expression = parseExpression(template.slice(open + 1, close), open + 1);
    variables += expression.variables.length;
    if (++expressions > MAX_EXPRESSIONS)
      throw new UriTemplateError(open, `at most ${MAX_EXPRESSIONS} expressions are allowed`);
    if (variables > MAX_VARIABLES) throw new UriTemplateError(open, `at most ${MAX_VARIABLES} variables are allowed`);
    parts.push(expression);
    position = close + 1;
  }
  return parts;
}

function endOfLiteral(template: string, start: number): number {
  const open = template.indexOf("{", start);
  const end = open < 0 ? template.length : open;
  const stray = template.indexOf("}", start);
  if (stray >= 0 && stray < end) throw new UriTemplateError(stray, 'this "}" has no opening "{"');
  return end;
}

function parseExpression(text: string, position: number): Expression {
  const sign = text.charAt(0);
  if (sign !== "" && "=,!@|".includes(sign)) throw new UriTemplateError(position, `the operator "${sign}" is reserved`);
  const operator = operators.get(sign);
  const list = operator ? text.slice(1) : text;
  let at = operator ? position + 1 : position;
  const variables = list.split(",").map((spec) => {
    const variable = parseVariable(spec, at);
    at += spec.length + 1;
    return variable;
  });
  return { operator: operator ?? simple, variables };
}

function parseVariable(spec: string, position: number): Variable {
  const found = variablePattern.exec(spec);
  if (found) {
    const [, name, maxLength, star] = found;
    return {
      name: name as string,
      maxLength: maxLength === undefined ? undefined : Number(maxLength),
      explode: star !== undefined,
    };
  }
  const shown = JSON.stringify(spec.length > 40 ? `${spec.slice(0, 39)}…` : spec);
  throw new UriTemplateError(
    position,
    spec === ""
      ? "a variable name is missing"
      : `${shown} is not a variable (letters, digits, "_", inner dots, then ":1" to ":9999" or "*")`,
  );
}

/** Returns the prefix of a text. It counts Unicode characters, so that none is cut in half (RFC 6570 section 2.4.1). */
export function firstCharacters(text: string, count: number | undefined): string {
  return count === undefined ? text : Array.from(text).slice(0, count).join("");
}

/** Encodes all but reserved characters, unreserved characters and percent-encoded triplets. */
export function encodeReserved(text: string): string {
  // Halves of surrogate pairs have no UTF-8 form and would make encodeURI throw.
  const wellFormed = text.replace(/\p{Surrogate}/gu, "\uFFFD");
  // encodeURI keeps the reserved characters of RFC 2396, which lack the brackets. Each "%25XX" was a triplet before.
  return encodeURI(wellFormed).replace(/%5B|%5D|%25([0-9A-Fa-f]{2})/g, (match, triplet: string | undefined) =>
    triplet === undefined ? decodeURIComponent(match) : `%${triplet}`,
  );
}
