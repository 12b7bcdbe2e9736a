import { isList } from "../../rpc/messages.ts";
import { formatCount, shorten } from "../schema.ts";
import { type Check, type Compiler, type Node, apply, applyAt, applySilently } from "./apply.ts";
import type { CheckedSchema } from "./keywords.ts";
import { type Run, every } from "./run.ts";

type Properties = Readonly<Record<string, unknown>>;

/** Returns the checks of the keywords of objects. */
export function objectChecks(schema: CheckedSchema, compiler: Compiler): Check<Properties>[] {
  const checks = [
    requiredProperties(schema.required),
    countProperties(schema),
    propertiesCheck(schema, compiler),
    propertyNames(schema, compiler),
    ...dependencies(schema, compiler),
  ];
  return checks.filter((check) => check !== undefined);
}

function requiredProperties(names: readonly string[] = []): Check<Properties> | undefined {
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
  const tooFew = `must have at least ${formatCount(min, "property", "properties")}`;
  const tooMany = `must have at most ${formatCount(max, "property", "properties")}`;
  return (value, run) => {
    const count = run.keysOf(value).length;
    run.take(count);
    if (count < min) return run.fail("minProperties", tooFew);
    return count <= max || run.fail("maxProperties", tooMany);
  };
}

/** `properties`, `patternProperties` and `additionalProperties`, which are checked together. */
function propertiesCheck(schema: CheckedSchema, compiler: Compiler): Check<Properties> | undefined {
  const { properties = {}, patternProperties = {}, additionalProperties } = schema;
  const propertyNodes = new Map(Object.entries(properties).map(([key, subschema]) => [key, compiler.node(subschema)]));
  const patterns = Object.entries(patternProperties).map(([source, subschema]) => ({
    pattern: compiler.patterns(source),
    node: compiler.node(subschema),
  }));
  const otherCheck =
    additionalProperties === undefined ? undefined : otherProperty(compiler.node(additionalProperties));
  if (propertyNodes.size === 0 && patterns.length === 0 && !otherCheck) return undefined;
  return (value, run, evaluation) => {
    let isValid = true;
    for (const key of run.keysOf(value)) {
      run.take(1);
      const node = propertyNodes.get(key);
      let isKnown = node !== undefined;
      let fits = node === undefined || applyAt(node, value[key], key, run);
      for (const { pattern, node: matching } of patterns) {
        if (pattern) {
          run.take(pattern.cost(key));
          if (!pattern.test(key)) continue;
          fits = applyAt(matching, value[key], key, run) && fits;
        } else run.skip();
        // If the pattern cannot be evaluated, the property may be one that it allows.
        isKnown = true;
      }
      if (!isKnown && otherCheck) {
        fits = otherCheck(key, value[key], run);
        isKnown = true;
      }
      if (isKnown) evaluation?.add(key);
      if (fits) continue;
      if (!run.findings || run.isFull) return false;
      isValid = false;
    }
    return isValid;
  };
}

/** Returns the check of properties that no other keyword of the schema names. */
function otherProperty(node: Node): (key: string, value: unknown, run: Run) => boolean {
  return (key, value, run) => {
    if (node.place.schema !== false) return applyAt(node, value, key, run);
    return run.findings ? run.checkAt(key, () => run.fail("additionalProperties", "is not a known property")) : false;
  };
}

function propertyNames(schema: CheckedSchema, compiler: Compiler): Check<Properties> | undefined {
  if (schema.propertyNames === undefined || !compiler.knows("propertyNames")) return undefined;
  const node = compiler.node(schema.propertyNames);
  return (value, run) =>
    every(run.keysOf(value), run, (key) => {
      run.take(1);
      if (applySilently(node, key, run, undefined)) return true;
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
      isList(dependency) ? requiredWith(key, dependency) : schemaWith(key, compiler.node(dependency)),
    ),
  );
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
  return (value, run, evaluation) => {
    run.take(1);
    return !Object.hasOwn(value, key) || apply(node, value, run, evaluation);
  };
}

/** Applies `unevaluatedProperties` to the properties that no other keyword has evaluated. */
export function unevaluatedProperties(node: Node): Check {
  const otherCheck = otherProperty(node);
  return (value, run, evaluation) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return true;
    const properties = value as Properties;
    const fits = every(run.keysOf(value), run, (key) => {
      run.take(1);
      return evaluation?.has(key) || otherCheck(key, properties[key], run);
    });
    evaluation?.addAll();
    return fits;
  };
}
