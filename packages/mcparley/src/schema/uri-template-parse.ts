/** One variable of an expression, with its modifier: `{name:3}` (maxLength 3) or `{name*}` (explode). */
export interface Variable {
  readonly name: string;
  readonly maxLength: number | undefined;
  readonly explode: boolean;
}

/** The form in which an operator writes its variables (RFC 6570 appendix A). */
interface Operator {
  /** The text before the first variable. */
  readonly first: string;
  /** The text between two variables. */
  readonly separator: string;
  /** Writes `name=value`. */
  readonly isNamed: boolean;
  /** Keeps reserved characters and percent-encoded triplets. */
  readonly keepsReserved: boolean;
}

/** An operator with its variables, such as `{?x,y}`. */
interface Expression {
  readonly operator: Operator;
  readonly variables: readonly Variable[];
}

/** Literal text, or an expression. */
export type TemplatePart = string | Expression;

const MAX_TEMPLATE_LENGTH = 8 * 1024;
const MAX_EXPRESSIONS = 64;
const MAX_VARIABLES = 128;

const simple: Operator = { first: "", separator: ",", isNamed: false, keepsReserved: false };
// Bundlers leave this out of a server without resources.
const operators: ReadonlyMap<string, Operator> = /* @__PURE__ */ makeOperators();

function makeOperators(): ReadonlyMap<string, Operator> {
  return new Map([
    ["+", { ...simple, keepsReserved: true }],
    ["#", { ...simple, first: "#", keepsReserved: true }],
    [".", { ...simple, first: ".", separator: "." }],
    ["/", { ...simple, first: "/", separator: "/" }],
    [";", { ...simple, first: ";", separator: ";", isNamed: true }],
    ["?", { ...simple, first: "?", separator: "&", isNamed: true }],
    ["&", { ...simple, first: "&", separator: "&", isNamed: true }],
  ]);
}

// Percent-encoded triplets are part of a name and are not decoded (RFC 6570 section 2.3).
const variablePattern = /^((?:\w|%[0-9A-Fa-f]{2})+(?:\.(?:\w|%[0-9A-Fa-f]{2})+)*)(?::([1-9]\d{0,3})|(\*))?$/;

/**
 * Splits a template into its literal text and its expressions. Throws a SyntaxError with the position, counted in UTF-16
 * units from 0, and the reason.
 */
export function parseParts(template: string): readonly TemplatePart[] {
  if (template.length > MAX_TEMPLATE_LENGTH) {
    throw templateError(MAX_TEMPLATE_LENGTH, `at most ${MAX_TEMPLATE_LENGTH} characters are allowed`);
  }
  const parts: TemplatePart[] = [];
  let variables = 0;
  let expressions = 0;
  for (let position = 0; position < template.length;) {
    const open = endOfLiteral(template, position);
    if (open > position) parts.push(template.slice(position, open));
    if (open === template.length) break;
    const close = template.indexOf("}", open);
    if (close < 0) throw templateError(open, 'this "{" is not closed');
    const expression = parseExpression(template.slice(open + 1, close), open + 1);
    variables += expression.variables.length;
    if (++expressions > MAX_EXPRESSIONS)
      throw templateError(open, `at most ${MAX_EXPRESSIONS} expressions are allowed`);
    if (variables > MAX_VARIABLES) throw templateError(open, `at most ${MAX_VARIABLES} variables are allowed`);
    parts.push(expression);
    position = close + 1;
  }
  return parts;
}

function endOfLiteral(template: string, start: number): number {
  const open = template.indexOf("{", start);
  const end = open < 0 ? template.length : open;
  const stray = template.indexOf("}", start);
  if (stray >= 0 && stray < end) throw templateError(stray, 'this "}" has no opening "{"');
  return end;
}

function parseExpression(text: string, position: number): Expression {
  const sign = text.charAt(0);
  if (sign !== "" && "=,!@|".includes(sign)) throw templateError(position, `the operator "${sign}" is reserved`);
  const operator = operators.get(sign);
  const list = operator ? text.slice(1) : text;
  let offset = operator ? position + 1 : position;
  const variables = list.split(",").map((spec) => {
    const variable = parseVariable(spec, offset);
    offset += spec.length + 1;
    return variable;
  });
  return { operator: operator ?? simple, variables };
}

function parseVariable(spec: string, position: number): Variable {
  const match = variablePattern.exec(spec);
  if (match) {
    const [, name = "", maxLength, star] = match;
    return {
      name,
      maxLength: maxLength === undefined ? undefined : Number(maxLength),
      explode: star !== undefined,
    };
  }
  const text = JSON.stringify(spec.length > 40 ? `${spec.slice(0, 39)}…` : spec);
  throw templateError(
    position,
    spec === ""
      ? "a variable name is missing"
      : `${text} is not a variable (letters, digits, "_", inner dots, then ":1" to ":9999" or "*")`,
  );
}

function templateError(position: number, reason: string): SyntaxError {
  return new SyntaxError(`Invalid URI template at position ${position}: ${reason}.`);
}

/** Literal text. It has a second form if it contains characters that RFC 6570 percent-encodes. */
export interface LiteralStep {
  readonly kind: "literal";
  readonly texts: readonly string[];
}

/** One variable of an expression that writes no names. */
export interface ValueStep {
  readonly kind: "value";
  readonly variable: Variable;
  /** The text before the value. With a prefix, prefix and value are optional. Without one, the value needs a character. */
  readonly prefix: string;
  readonly separator: string;
  /** Characters that end a value. */
  readonly stops: string;
}

/** All variables of adjacent expressions that write `name=value`, as in `{?a}{&b}`. */
export interface PairsStep {
  readonly kind: "pairs";
  readonly names: ReadonlyMap<string, Variable>;
  /** The exploded variable, which receives the pairs with other names. */
  readonly catchAll: Variable | undefined;
  /** Characters that can start the first pair. */
  readonly openers: string;
  readonly separator: string;
  readonly stops: string;
}

/** A part of a template, as it is matched. */
export type Step = LiteralStep | ValueStep | PairsStep;

/** Converts the parts of a template to the steps in which a URI is matched. */
export function toSteps(parts: readonly TemplatePart[]): Step[] {
  const steps: Step[] = [];
  for (const part of parts) {
    const last = steps.at(-1);
    if (typeof part === "string") steps.push({ kind: "literal", texts: [...new Set([part, encodeReserved(part)])] });
    else if (!part.operator.isNamed) {
      const { first, separator, keepsReserved } = part.operator;
      for (const [index, variable] of part.variables.entries()) {
        const stops = keepsReserved ? "" : separator === "/" && variable.explode ? "?#" : "/?#";
        steps.push({ kind: "value", variable, prefix: index === 0 ? first : separator, separator, stops });
      }
    } else if (last?.kind === "pairs" && last.separator === part.operator.separator) {
      // `{?a}{&b}` is one query: without a, its first pair follows "&" (RFC 6570 section 3.2.9). The order is free.
      steps[steps.length - 1] = toPairsStep(part, last);
    } else steps.push(toPairsStep(part));
  }
  return steps;
}

function toPairsStep({ operator, variables }: Expression, previous?: PairsStep): PairsStep {
  const { first, separator } = operator;
  return {
    kind: "pairs",
    names: new Map([...(previous?.names ?? []), ...variables.map((variable) => [variable.name, variable] as const)]),
    catchAll: previous?.catchAll ?? variables.find(({ explode }) => explode),
    openers: (previous?.openers ?? "") + first,
    separator,
    stops: separator === "&" ? "&#" : ";/?#",
  };
}

/** Returns the prefix of a text. It counts Unicode characters, so that none is cut in half (RFC 6570 section 2.4.1). */
export function firstCharacters(text: string, count: number | undefined): string {
  return count === undefined ? text : Array.from(text).slice(0, count).join("");
}

/** Encodes all but reserved characters, unreserved characters and percent-encoded triplets. */
export function encodeReserved(text: string): string {
  // Halves of surrogate pairs have no UTF-8 form and would make encodeURI throw.
  const wellFormed = text.replace(/[\uD800-\uDFFF]/gu, "\uFFFD");
  // encodeURI keeps the reserved characters of RFC 2396, which lack the brackets. Each "%25XX" was a triplet before.
  return encodeURI(wellFormed).replace(/%5B|%5D|%25([0-9A-Fa-f]{2})/g, (match, triplet: string | undefined) =>
    triplet === undefined ? decodeURIComponent(match) : `%${triplet}`,
  );
}
