import { encodeReserved } from "./uri-template-expand.ts";
import type { Expression, TemplatePart, Variable } from "./uri-template-parse.ts";

/** Fixed text. Has a second form when it holds characters that a URI cannot: RFC 6570 writes those percent-encoded. */
export interface LiteralStep {
  readonly kind: "literal";
  readonly texts: readonly string[];
}

/** One variable of an expression that writes no names. */
export interface ValueStep {
  readonly kind: "value";
  readonly variable: Variable;
  /** What stands before the value. Without it the value needs at least one character; with it, both may be missing. */
  readonly prefix: string;
  readonly separator: string;
  /** The characters that a value cannot go past. */
  readonly stops: string;
}

/** All variables of the expressions that write `name=value`, side by side as in `{?a}{&b}`. */
export interface PairsStep {
  readonly kind: "pairs";
  readonly names: ReadonlyMap<string, Variable>;
  /** The exploded variable that takes the pairs of every other name. */
  readonly rest: Variable | undefined;
  /** The characters that the first pair may follow. */
  readonly openers: string;
  readonly separator: string;
  readonly stops: string;
}

export type Step = LiteralStep | ValueStep | PairsStep;

/** Breaks a template down to the steps that matching takes. */
export function compileSteps(parts: readonly TemplatePart[]): Step[] {
  const steps: Step[] = [];
  for (const part of parts) {
    const last = steps.at(-1);
    if (typeof part === "string") steps.push({ kind: "literal", texts: [...new Set([part, encodeReserved(part)])] });
    else if (!part.operator.named) steps.push(...toValueSteps(part));
    else if (last?.kind === "pairs" && last.separator === part.operator.separator) {
      // `{?a}{&b}` is one query: without a, its first pair follows "&" (RFC 6570 section 3.2.9), and order is free.
      steps[steps.length - 1] = toPairsStep(part, last);
    } else steps.push(toPairsStep(part));
  }
  return steps;
}

function toValueSteps({ operator, variables }: Expression): ValueStep[] {
  const { first, separator, reserved } = operator;
  return variables.map((variable, index) => ({
    kind: "value",
    variable,
    prefix: index === 0 ? first : separator,
    separator,
    stops: reserved ? "" : separator === "/" && variable.explode ? "?#" : "/?#",
  }));
}

function toPairsStep({ operator, variables }: Expression, before?: PairsStep): PairsStep {
  const { first, separator } = operator;
  return {
    kind: "pairs",
    names: new Map([...(before?.names ?? []), ...variables.map((variable) => [variable.name, variable] as const)]),
    rest: before?.rest ?? variables.find(({ explode }) => explode),
    openers: (before?.openers ?? "") + first,
    separator,
    stops: separator === "&" ? "&#" : ";/?#",
  };
}
