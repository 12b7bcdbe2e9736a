import { MAX_ISSUES } from "../schema.ts";
import { type Check, type Compiler, type Node, apply, applySilently } from "./apply.ts";
import type { DynamicReference } from "./document.ts";
import type { CheckedSchema, Subschema } from "./keywords.ts";
import { Evaluated, type Finding, type Run, every } from "./run.ts";

/** Returns the checks of the keywords that apply other schemas to the same value. */
export function combinationChecks(schema: CheckedSchema, compiler: Compiler): Check[] {
  const nodes = (list: readonly Subschema[] | undefined): Node[] | undefined =>
    list?.map((below) => compiler.node(below));
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
  return (value, run, evaluated) => apply(node, value, run, evaluated);
}

/**
 * Applies the target of a `$dynamicRef` or `$recursiveRef`: the subschema with its anchor in the outermost resource that
 * validation has passed.
 */
export function dynamicReferenceTo({ initial, anchor }: DynamicReference, compiler: Compiler): Check {
  if (anchor === undefined) return referenceTo(compiler.nodeAt(initial));
  return (value, run, evaluated) => {
    let target = initial;
    for (let { scope } = run; scope; scope = scope.outer) {
      run.take(1);
      target = scope.resource.dynamicAnchors.get(anchor) ?? target;
    }
    return apply(compiler.nodeAt(target), value, run, evaluated);
  };
}

function allOf(nodes: readonly Node[] | undefined): Check | undefined {
  return nodes && ((value, run, evaluated) => every(nodes, run, (node) => apply(node, value, run, evaluated)));
}

/** `anyOf` and `oneOf`. */
function alternatives(keyword: "anyOf" | "oneOf", nodes: readonly Node[] | undefined): Check | undefined {
  if (!nodes) return undefined;
  const checks = nodes.map(silently);
  const fail = failAlternatives(keyword, nodes);
  return (value, run, evaluated) => {
    const { unchecked } = run;
    let count = 0;
    for (const matches of checks) {
      if (!matches(value, run, evaluated)) continue;
      count++;
      if (keyword === "anyOf") {
        // Without `unevaluatedProperties` above, the properties that the others evaluate do not matter.
        if (!evaluated) break;
      } else if (count > 1 && run.unchecked === unchecked) {
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
      const { unchecked } = run;
      const fits = !applySilently(node, value, run, undefined);
      return fits || run.unchecked > unchecked || run.fail("not", 'must not match the schema in "not"');
    })
  );
}

function conditional(schema: CheckedSchema, compiler: Compiler): Check | undefined {
  const { if: condition, then: whenTrue, else: whenFalse } = schema;
  if (condition === undefined) return undefined;
  const test = silently(compiler.node(condition));
  const consequence = whenTrue === undefined ? undefined : compiler.node(whenTrue);
  const alternative = whenFalse === undefined ? undefined : compiler.node(whenFalse);
  return (value, run, evaluated) => {
    const { unchecked } = run;
    const branch = test(value, run, evaluated) ? consequence : alternative;
    return branch === undefined || run.unchecked > unchecked || apply(branch, value, run, evaluated);
  };
}

/**
 * Applies one of several schemas without reporting. If the value fits, adds its evaluated properties to the outer schema.
 */
function silently(node: Node): Check {
  return (value, run, evaluated) => {
    const own = evaluated && new Evaluated();
    const fits = applySilently(node, value, run, own);
    if (fits && own) evaluated.addFrom(own, run);
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
      const reported: Finding[] = [];
      run.isolated(reported, () => apply(node, value, run, undefined));
      if (all.length < MAX_ISSUES) all.push(...reported);
      if (!reported.some((finding) => isDecisive(finding, path))) close.push(...reported);
    }
    for (const finding of close.length > 0 ? close : all) run.add(finding);
    return false;
  };
}

/** Returns whether an issue shows that an alternative is for another kind of value. */
function isDecisive({ keyword, path }: Finding, ofUnion: string): boolean {
  return keyword === "type" || keyword === "false" ? path === ofUnion : keyword === "const" || keyword === "enum";
}
