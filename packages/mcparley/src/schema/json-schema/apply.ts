import type { Place } from "./document.ts";
import type { Dialect, Subschema, TypeName } from "./keywords.ts";
import type { PatternEngine } from "./patterns.ts";
import { Evaluated, type Run } from "./run.ts";

/** Checks a value against one keyword, or a few that belong together. */
export type Check<T = unknown> = (value: T, run: Run, evaluation: Evaluated | undefined) => boolean;

/** The types of JSON Schema, as bits. An integer has both number bits. */
export const Type: Readonly<Record<TypeName, number>> = {
  null: 1,
  boolean: 2,
  number: 4,
  integer: 8,
  string: 16,
  array: 32,
  object: 64,
};
/** The bits of all types. */
export const ANY_TYPE = 127;

/** The types to which some keywords are limited, and all others. */
export type Kind = "number" | "string" | "array" | "object" | "other";

/** A subschema that is ready for use. */
export interface Node {
  readonly place: Place;
  /** Steps of one application. Its checks take more steps for the items and characters that they look at. */
  cost: number;
  /** The types that `type` allows, as bits. */
  types: number;
  /** The allowed types for messages, such as `string or null`. */
  typeNames: string;
  /** The checks for each kind of value. `any`, because those of a kind accept only its values. */
  readonly checks: Record<Kind, Check<any>[]>;
  /** `unevaluatedItems` and `unevaluatedProperties`, which are applied after all other keywords. */
  readonly last: Check<any>[];
  /** Whether a `$dynamicRef` below it depends on the resource of this subschema. */
  readonly isScope: boolean;
}

/** The compilation of a document, for the functions that make the checks of its keywords. */
export interface Compiler {
  readonly dialect: Dialect;
  /** Compiles `pattern` and `patternProperties`. */
  readonly patterns: PatternEngine;
  /** Whether `format` is asserted. */
  readonly assertsFormat: boolean;
  /** Returns whether the dialect defines a keyword. */
  knows(keyword: string): boolean;
  /** Returns the node of a subschema. Its checks may be added later. */
  node(schema: Subschema): Node;
  /** Returns the node of the target of a reference. */
  nodeAt(place: Place): Node;
}

/** Returns whether a value fits a schema. Throws TooComplex if the budget of steps does not suffice. */
// oxlint-disable-next-line max-params -- called for each value and subschema, so it must not allocate
export function apply(node: Node, value: unknown, run: Run, evaluation: Evaluated | undefined): boolean {
  run.take(node.cost);
  if (run.isFull) return false;
  const type = typeOf(value);
  if ((node.types & type) === 0) return failType(node, type, run);
  const checks = node.checks[kindOf(type)];
  if (checks.length === 0 && node.last.length === 0) return true;
  run.enter();
  const { scope } = run;
  if (node.isScope && scope?.resource !== node.place.resource)
    run.scope = { resource: node.place.resource, outer: scope };
  const ownEvaluation = node.last.length > 0 ? new Evaluated() : evaluation;
  const fits = passes(checks, value, run, ownEvaluation) && passes(node.last, value, run, ownEvaluation);
  if (fits && evaluation && ownEvaluation && ownEvaluation !== evaluation) evaluation.addFrom(ownEvaluation, run);
  run.scope = scope;
  run.leave();
  return fits;
}

/** The same as `every`, without a closure for each value. */
// oxlint-disable-next-line max-params -- called for each value and subschema, so it must not allocate
function passes(checks: readonly Check<any>[], value: unknown, run: Run, evaluation: Evaluated | undefined): boolean {
  let fits = true;
  for (const check of checks) {
    if (check(value, run, evaluation)) continue;
    if (!run.findings || run.isFull) return false;
    fits = false;
  }
  return fits;
}

/** Applies a schema without reporting issues. */
// oxlint-disable-next-line max-params -- called for each property name and alternative, so it must not allocate
export function applySilently(node: Node, value: unknown, run: Run, evaluation: Evaluated | undefined): boolean {
  if (!run.findings) return apply(node, value, run, evaluation);
  return run.isolate(undefined, () => apply(node, value, run, evaluation));
}

/** Applies a schema to a property or an item. */
// oxlint-disable-next-line max-params -- called for each property and item, so it must not allocate
export function applyAt(node: Node, value: unknown, key: string | number, run: Run): boolean {
  return run.findings ? run.checkAt(key, () => apply(node, value, run, undefined)) : apply(node, value, run, undefined);
}

function typeOf(value: unknown): number {
  switch (typeof value) {
    case "string":
      return Type.string;
    case "number":
      return Number.isInteger(value) ? Type.number | Type.integer : Type.number;
    case "boolean":
      return Type.boolean;
    case "object":
      return value === null ? Type.null : Array.isArray(value) ? Type.array : Type.object;
    default:
      return 0;
  }
}

function kindOf(type: number): Kind {
  if (type === Type.string) return "string";
  if (type === Type.object) return "object";
  if (type === Type.array) return "array";
  return type & Type.number ? "number" : "other";
}

function failType(node: Node, type: number, run: Run): false {
  if (!run.findings) return false;
  if (node.types === 0) return run.fail("false", "is not allowed");
  const actual = Object.entries(Type).find(([, bit]) => (bit & type) !== 0)?.[0];
  if (actual === undefined) return run.fail("type", "is not a JSON value");
  return run.fail("type", `must be ${node.typeNames}, not ${actual}`);
}
