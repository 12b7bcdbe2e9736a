import { counted, shorten } from "../schema.ts";
import { type Check, type Compiler, type Node, apply, applyAt } from "./apply.ts";
import type { CheckedSchema, Subschema } from "./keywords.ts";
import type { Pattern } from "./patterns.ts";
import { type Evaluated, type Run, every } from "./run.ts";

type Properties = Readonly<Record<string, unknown>>;

/** Returns the checks of the keywords of objects. */
export function objectChecks(schema: CheckedSchema, compiler: Compiler): Check<Properties>[] {
  const checks = [
    required(schema.required),
    countProperties(schema),
    properties(schema, compiler),
    propertyNames(schema, compiler),
    ...dependencies(schema, compiler),
  ];
  return checks.filter((check) => check !== undefined);
}

function required(names: readonly string[] = []): Check<Properties> | undefined {
  if (names.length === 0) return undefined;
  return (value, run) =>
    every(names, run, (name) => {
      run.take(1);
      return Object.hasOwn(value, name) || run.fail("required", `must have the property "${name}"`);
    });
}

function countProperties({ minProperties, maxProperties }: CheckedSchema): Check<Properties> | undefined {
  if (minProperties === undefined && maxProperties === undefined) return undefined;
  const min = minProperties ?? 0;
  const max = maxProperties ?? Infinity;
  const tooFew = `must have at least ${counted(min, "property", "properties")}`;
  const tooMany = `must have at most ${counted(max, "property", "properties")}`;
  return (value, run) => {
    const count = Object.keys(value).length;
    run.take(count);
    if (count < min) return run.fail("minProperties", tooFew);
    return count <= max || run.fail("maxProperties", tooMany);
  };
}

type CheckProperty = (key: string, value: unknown, run: Run) => boolean;

/** `properties`, `patternProperties` and `additionalProperties` of one schema, which are checked together. */
interface Parts {
  readonly named: ReadonlyMap<string, Node>;
  readonly patterns: readonly { readonly pattern: Pattern | undefined; readonly node: Node }[];
  readonly others: CheckProperty | undefined;
}

function properties(schema: CheckedSchema, compiler: Compiler): Check<Properties> | undefined {
  const { properties: named = {}, patternProperties = {}, additionalProperties } = schema;
  const parts: Parts = {
    named: new Map(Object.entries(named).map(([key, below]) => [key, compiler.node(below)])),
    patterns: Object.entries(patternProperties).map(([source, below]) => ({
      pattern: compiler.patterns(source),
      node: compiler.node(below),
    })),
    others: additionalProperties === undefined ? undefined : otherProperty(compiler.node(additionalProperties)),
  };
  if (parts.named.size === 0 && parts.patterns.length === 0 && !parts.others) return undefined;
  return (value, run, evaluated) => {
    let fits = true;
    // Cheaper than Object.keys for the objects that JSON.parse makes, which inherit nothing enumerable.
    for (const key in value) {
      if (property(parts, key, value[key], run, evaluated)) continue;
      if (!run.findings) return false;
      fits = false;
    }
    return fits;
  };
}

// oxlint-disable-next-line max-params -- called for each property of each object
function property(parts: Parts, key: string, value: unknown, run: Run, evaluated: Evaluated | undefined): boolean {
  run.take(1);
  const node = parts.named.get(key);
  let isKnown = node !== undefined;
  let fits = node === undefined || applyAt(node, value, key, run);
  for (const { pattern, node: matching } of parts.patterns) {
    if (pattern) {
      run.take(pattern.cost(key));
      if (!pattern.test(key)) continue;
      fits = applyAt(matching, value, key, run) && fits;
    } else run.skip();
    // If the pattern cannot be evaluated, the property may be one that it allows.
    isKnown = true;
  }
  if (!isKnown && parts.others) {
    fits = parts.others(key, value, run);
    isKnown = true;
  }
  if (isKnown) evaluated?.add(key);
  return fits;
}

/** Returns the check of properties that no other keyword of the schema names. */
function otherProperty(node: Node): CheckProperty {
  return (key, value, run) => {
    if (node.place.schema !== false) return applyAt(node, value, key, run);
    return run.findings ? run.at(key, () => run.fail("additionalProperties", "is not a known property")) : false;
  };
}

function propertyNames(schema: CheckedSchema, compiler: Compiler): Check<Properties> | undefined {
  if (schema.propertyNames === undefined || !compiler.knows("propertyNames")) return undefined;
  const node = compiler.node(schema.propertyNames);
  return (value, run) =>
    every(Object.keys(value), run, (key) => {
      run.take(1);
      if (run.isolated(undefined, () => apply(node, key, run, undefined))) return true;
      return run.fail("propertyNames", `must not have a property named "${shorten(key)}"`);
    });
}

/**
 * `dependentRequired` and `dependentSchemas`, and `dependencies`, which combines both and is still in use after draft-07.
 */
function dependencies(schema: CheckedSchema, compiler: Compiler): Check<Properties>[] {
  const keywords = (["dependencies", "dependentRequired", "dependentSchemas"] as const).filter((name) =>
    compiler.knows(name),
  );
  return keywords.flatMap((keyword) =>
    Object.entries(schema[keyword] ?? {}).map(([key, dependency]) =>
      isNames(dependency) ? requiredWith(key, dependency) : schemaWith(key, compiler.node(dependency)),
    ),
  );
}

/** `Array.isArray` does not recognize a list that is read-only. */
function isNames(dependency: Subschema | readonly string[]): dependency is readonly string[] {
  return Array.isArray(dependency);
}

function requiredWith(key: string, names: readonly string[]): Check<Properties> {
  return (value, run) => {
    run.take(1 + names.length);
    if (!Object.hasOwn(value, key)) return true;
    const missing = names.find((name) => !Object.hasOwn(value, name));
    if (missing === undefined) return true;
    return run.fail("dependentRequired", `must have the property "${missing}" if it has "${key}"`);
  };
}

function schemaWith(key: string, node: Node): Check<Properties> {
  return (value, run, evaluated) => {
    run.take(1);
    return !Object.hasOwn(value, key) || apply(node, value, run, evaluated);
  };
}

/** Applies `unevaluatedProperties` to the properties that no other keyword has evaluated. */
export function unevaluatedProperties(node: Node): Check {
  const other = otherProperty(node);
  return (value, run, evaluated) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return true;
    const fits = every(Object.entries(value), run, ([key, item]) => {
      run.take(1);
      return evaluated?.has(key) || other(key, item, run);
    });
    evaluated?.addAll();
    return fits;
  };
}
