import { MAX_ISSUES } from "../schema.ts";
import { type Check, type Compiler, type Node, apply, applySilently } from "./apply.ts";
import type { DynamicReference } from "./document.ts";
import type { CheckedSchema, Subschema } from "./keywords.ts";
import { Evaluated, type Finding, type Run, every } from "./run.ts";

/** Returns the checks of the keywords that apply other schemas to the same value. */
export function combinationChecks(schema: CheckedSchema, compiler: Compiler): Check[] {
  const nodes = (list: readonly Subschema[] | undefined): Node[] | undefined =>
    list?.map((subschema) => compiler.node(subschema));
  const checks = [
    allOf(nodes(schema.allOf)),
    alternatives("anyOf", nodes(schema.anyOf)),
    alternatives("oneOf", nodes(schema.oneOf)),
    not(schema.not === undefined ? undefined : compiler.node(schema.not)),
    compiler.knows("if") ? conditional(schema, compiler) : undefined,
  ];
  return checks.filter((check) => check !== undefined);
}

/** Applies the target of a `$ref`. */
export function referenceTo(node: Node): Check {
  return (value, run, evaluation) => apply(node, value, run, evaluation);
}

/**
 * Applies the target of a `$dynamicRef` or `$recursiveRef`: the subschema with its anchor in the outermost resource that
 * validation has passed.
 */
export function dynamicReferenceTo({ initial, anchor }: DynamicReference, compiler: Compiler): Check {
  if (anchor === undefined) return referenceTo(compiler.nodeAt(initial));
  return (value, run, evaluation) => {
    let target = initial;
    for (let { scope } = run; scope; scope = scope.outer) {
      run.take(1);
      target = scope.resource.dynamicAnchors.get(anchor) ?? target;
    }
    return apply(compiler.nodeAt(target), value, run, evaluation);
  };
}

function allOf(nodes: readonly Node[] | undefined): Check | undefined {
  return nodes && ((value, run, evaluation) => every(nodes, run, (node) => apply(node, value, run, evaluation)));
}

/** `anyOf` and `oneOf`. */
function alternatives(keyword: "anyOf" | "oneOf", nodes: readonly Node[] | undefined): Check | undefined {
  if (!nodes) return undefined;
  const checks = nodes.map(silently);
  const fail = failAlternatives(keyword, nodes);
  return (value, run, evaluation) => {
    const { uncheckedCount } = run;
    let count = 0;
    for (const matches of checks) {
      if (!matches(value, run, evaluation)) continue;
      count++;
      if (keyword === "anyOf") {
        // Without `unevaluatedProperties` above, the properties that the others evaluate do not matter.
        if (!evaluation) break;
      } else if (count > 1 && run.uncheckedCount === uncheckedCount) {
        return run.fail(keyword, `must match exactly one of the ${nodes.length} alternatives, but matches several`);
      }
    }
    return count > 0 || fail(value, run);
  };
}

function not(node: Node | undefined): Check | undefined {
  return (
    node &&
    ((value, run) => {
      const { uncheckedCount } = run;
      const fits = !applySilently(node, value, run, undefined);
      return fits || run.uncheckedCount > uncheckedCount || run.fail("not", 'must not match the schema in "not"');
    })
  );
}

function conditional(schema: CheckedSchema, compiler: Compiler): Check | undefined {
  const { if: condition, then: whenTrue, else: whenFalse } = schema;
  if (condition === undefined) return undefined;
  const test = silently(compiler.node(condition));
  const consequence = whenTrue === undefined ? undefined : compiler.node(whenTrue);
  const alternative = whenFalse === undefined ? undefined : compiler.node(whenFalse);
  return (value, run, evaluation) => {
    const { uncheckedCount } = run;
    const branch = test(value, run, evaluation) ? consequence : alternative;
    return branch === undefined || run.uncheckedCount > uncheckedCount || apply(branch, value, run, evaluation);
  };
}

/**
 * Applies one of several schemas without reporting. If the value fits, adds its evaluated properties to the outer schema.
 */
function silently(node: Node): Check {
  return (value, run, evaluation) => {
    const ownEvaluation = evaluation && new Evaluated();
    const fits = applySilently(node, value, run, ownEvaluation);
    if (fits && ownEvaluation) evaluation.addFrom(ownEvaluation, run);
    return fits;
  };
}

/**
 * Reports that no alternative fits, and the issues of the closest ones: those for a value of this type and with the same
 * tags, such as `kind: "circle"`. If none is close, reports the issues of all.
 */
function failAlternatives(keyword: string, nodes: readonly Node[]): (value: unknown, run: Run) => false {
  return (value, run) => {
    if (!run.findings) return false;
    const { path } = run;
    run.fail(keyword, `must match ${keyword === "oneOf" ? "exactly" : "at least"} one of ${nodes.length} alternatives`);
    const all: Finding[] = [];
    const close: Finding[] = [];
    for (const node of nodes) {
      if (close.length >= MAX_ISSUES) break;
      const reportedFindings: Finding[] = [];
      run.isolate(reportedFindings, () => apply(node, value, run, undefined));
      if (all.length < MAX_ISSUES) all.push(...reportedFindings);
      if (!reportedFindings.some((finding) => isDecisive(finding, path))) close.push(...reportedFindings);
    }
    for (const finding of close.length > 0 ? close : all) run.add(finding);
    return false;
  };
}

/** Returns whether an issue shows that an alternative is for another kind of value. */
function isDecisive({ keyword, path }: Finding, ofUnion: string): boolean {
  return keyword === "type" || keyword === "false" ? path === ofUnion : keyword === "const" || keyword === "enum";
}
