import { isList } from "../../rpc/messages.ts";
import { formatCount } from "../schema.ts";
import { type Check, type Compiler, type Node, applyAt } from "./apply.ts";
import { ValueSet } from "./equality.ts";
import type { CheckedSchema } from "./keywords.ts";
import { every } from "./run.ts";

type Items = readonly unknown[];

/** Returns the checks of the keywords of arrays. */
export function arrayChecks(schema: CheckedSchema, compiler: Compiler): Check<Items>[] {
  const checks = [
    countItems(schema),
    schema.uniqueItems === true ? hasUniqueItems : undefined,
    itemsCheck(schema, compiler),
    contains(schema, compiler),
  ];
  return checks.filter((check) => check !== undefined);
}

function countItems({ minItems, maxItems }: CheckedSchema): Check<Items> | undefined {
  if (minItems === undefined && maxItems === undefined) return undefined;
  const min = minItems ?? 0;
  const max = maxItems ?? Infinity;
  const tooFew = `must have at least ${formatCount(min, "item", "items")}`;
  const tooMany = `must have at most ${formatCount(max, "item", "items")}`;
  return ({ length }, run) => {
    if (length < min) return run.fail("minItems", tooFew);
    return length <= max || run.fail("maxItems", tooMany);
  };
}

const hasUniqueItems: Check<Items> = (value, run) => {
  const seenValues = new ValueSet();
  run.take(value.length);
  for (const [index, item] of value.entries()) {
    if (!seenValues.add(item, run))
      return run.fail("uniqueItems", `must not have the same item twice; see index ${index}`);
  }
  return true;
};

/** `prefixItems` and `items`. Up to 2019-09: `items` as a list, and `additionalItems`. */
function itemsCheck(schema: CheckedSchema, compiler: Compiler): Check<Items> | undefined {
  const { items, prefixItems = [], additionalItems } = schema;
  const defaultPrefix = compiler.dialect === "2020-12" ? prefixItems : [];
  const [prefix, restSchema] = isList(items) ? [items, additionalItems] : [defaultPrefix, items];
  const first = prefix.map((item) => compiler.node(item));
  const restNode = restSchema === undefined ? undefined : compiler.node(restSchema);
  if (first.length === 0 && !restNode) return undefined;
  return (value, run, evaluation) => {
    const end = restNode ? value.length : Math.min(first.length, value.length);
    let fits = true;
    for (let index = 0; index < end; index++) {
      if (applyAt(first[index] ?? restNode!, value[index], index, run)) continue;
      if (!run.findings) return false;
      fits = false;
    }
    evaluation?.addItems(end);
    return fits;
  };
}

function contains(schema: CheckedSchema, compiler: Compiler): Check<Items> | undefined {
  if (schema.contains === undefined || !compiler.knows("contains")) return undefined;
  const node = compiler.node(schema.contains);
  const { minContains = 1, maxContains = Infinity }: CheckedSchema = compiler.knows("minContains") ? schema : {};
  const rule = 'match the schema in "contains"';
  const marks = compiler.dialect === "2020-12";
  return (value, run, evaluation) => {
    const { uncheckedCount } = run;
    let count = 0;
    for (const [index, item] of value.entries()) {
      if (!run.isolate(undefined, () => applyAt(node, item, index, run))) continue;
      count++;
      if (marks) evaluation?.add(index);
      else if (count >= minContains && maxContains === Infinity) break;
    }
    if (count < minContains)
      return run.fail(
        "contains",
        `must have at least ${formatCount(minContains, "item", "items")} that ${rule}, not ${count}`,
      );
    if (count <= maxContains || run.uncheckedCount > uncheckedCount) return true;
    return run.fail(
      "contains",
      `must have at most ${formatCount(maxContains, "item", "items")} that ${rule}, not ${count}`,
    );
  };
}

/** Applies `unevaluatedItems` to the items that no other keyword has evaluated. */
export function unevaluatedItems(node: Node): Check {
  return (value, run, evaluation) => {
    if (!Array.isArray(value)) return true;
    const fits = every(
      value.entries(),
      run,
      ([index, item]) => evaluation?.has(index) || applyAt(node, item, index, run),
    );
    evaluation?.addItems(value.length);
    return fits;
  };
}
