import { type JsonSchema, counted } from "../schema.ts";
import { type Check, type Node, applyAt } from "./apply.ts";
import type { Compiler } from "./compiler.ts";
import { ValueSet } from "./equality.ts";
import { every } from "./run.ts";

type Items = readonly unknown[];

/** The keywords of arrays. */
export function arrayChecks(schema: JsonSchema, compiler: Compiler): Check<Items>[] {
  const checks = [
    countItems(schema),
    schema["uniqueItems"] === true ? hasUniqueItems : undefined,
    items(schema, compiler),
    contains(schema, compiler),
  ];
  return checks.filter((check) => check !== undefined);
}

function countItems({ minItems, maxItems }: JsonSchema): Check<Items> | undefined {
  if (minItems === undefined && maxItems === undefined) return undefined;
  const min = (minItems as number | undefined) ?? 0;
  const max = (maxItems as number | undefined) ?? Infinity;
  const tooFew = `must have at least ${counted(min, "item", "items")}`;
  const tooMany = `must have at most ${counted(max, "item", "items")}`;
  return ({ length }, run) => {
    if (length < min) return run.fail("minItems", tooFew);
    return length <= max || run.fail("maxItems", tooMany);
  };
}

const hasUniqueItems: Check<Items> = (value, run) => {
  const known = new ValueSet();
  run.take(value.length);
  for (const [index, item] of value.entries()) {
    if (!known.add(item, run)) return run.fail("uniqueItems", `must not have the same item twice; see index ${index}`);
  }
  return true;
};

/** `prefixItems` and `items`; or up to 2019-09 `items` as a list, and `additionalItems`. */
function items(schema: JsonSchema, compiler: Compiler): Check<Items> | undefined {
  const { prefix, rest } = partsOf(schema, compiler);
  const first = prefix.map((below) => compiler.node(below));
  const others = rest === undefined ? undefined : compiler.node(rest);
  if (first.length === 0 && !others) return undefined;
  return (value, run, evaluated) => {
    const end = others ? value.length : Math.min(first.length, value.length);
    let fits = true;
    for (let index = 0; index < end; index++) {
      if (applyAt(first[index] ?? others!, value[index], index, run)) continue;
      if (!run.findings) return false;
      fits = false;
    }
    evaluated?.addItems(end);
    return fits;
  };
}

type Subschema = JsonSchema | boolean;

function partsOf(schema: JsonSchema, { dialect }: Compiler): { prefix: Subschema[]; rest: Subschema | undefined } {
  const { prefixItems, items: all, additionalItems } = schema as Record<string, Subschema | undefined>;
  const listed: unknown = dialect === "2020-12" ? prefixItems : all;
  if (Array.isArray(listed))
    return { prefix: listed as Subschema[], rest: dialect === "2020-12" ? all : additionalItems };
  return { prefix: [], rest: all };
}

function contains(schema: JsonSchema, compiler: Compiler): Check<Items> | undefined {
  if (schema["contains"] === undefined || !compiler.knows("contains")) return undefined;
  const node = compiler.node(schema["contains"] as Subschema);
  const canCount = compiler.knows("minContains");
  const min = canCount ? ((schema["minContains"] as number | undefined) ?? 1) : 1;
  const max = canCount ? ((schema["maxContains"] as number | undefined) ?? Infinity) : Infinity;
  const rule = 'match the schema in "contains"';
  const marks = compiler.dialect === "2020-12";
  return (value, run, evaluated) => {
    const { unchecked } = run;
    let count = 0;
    for (const [index, item] of value.entries()) {
      if (!run.isolated(undefined, () => applyAt(node, item, index, run))) continue;
      count++;
      if (marks) evaluated?.add(index);
      else if (count >= min && max === Infinity) break;
    }
    if (count < min)
      return run.fail("contains", `must have at least ${counted(min, "item", "items")} that ${rule}, not ${count}`);
    if (count <= max || run.unchecked > unchecked) return true;
    return run.fail("contains", `must have at most ${counted(max, "item", "items")} that ${rule}, not ${count}`);
  };
}

/** Applies `unevaluatedItems` to the items that no other keyword has evaluated. */
export function unevaluatedItems(node: Node): Check {
  return (value, run, evaluated) => {
    if (!Array.isArray(value)) return true;
    const fits = every(
      value.entries(),
      run,
      ([index, item]) => evaluated?.has(index) || applyAt(node, item, index, run),
    );
    evaluated?.addItems(value.length);
    return fits;
  };
}
