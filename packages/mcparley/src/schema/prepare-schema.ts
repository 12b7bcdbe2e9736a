import { dereference } from "@cfworker/json-schema";
import type { Schema, SchemaDraft } from "@cfworker/json-schema";
import { checkBudget } from "./budget.ts";
import { draftOf } from "./dialects.ts";
import { checkIsSchema, checkKeywordShapes } from "./keyword-shapes.ts";
import { SchemaError, isObject, shorten } from "./schema.ts";
import type { JsonSchema } from "./schema.ts";
import { subschemasOf } from "./subschemas.ts";
import type { Subschema } from "./subschemas.ts";

const MAX_DEPTH = 64;
const MAX_SUBSCHEMAS = 10_000;

/**
 * The validator compares each item with each other one, so this bounds what a hostile array costs (some 4 million
 * comparisons); a longer array is refused where its items have to be unique.
 */
const MAX_UNIQUE_ITEMS = 2048;

/** A private copy of a schema, checked, and every schema in it by its URI. */
export interface PreparedSchema {
  readonly root: Schema;
  readonly draft: SchemaDraft;
  readonly lookup: Record<string, Schema>;
}

interface Node {
  readonly schema: Schema;
  /** A JSON pointer, for error messages. */
  readonly at: string;
  readonly depth: number;
}

interface DynamicNames {
  readonly anchors: string[];
  readonly references: string[];
}

/** Copies a schema, checks it, and links its references, which may only lead to places in the same document. */
export function prepareSchema(schema: JsonSchema): PreparedSchema {
  const excess = checkBudget(schema, { depth: 4 * MAX_DEPTH, elements: 50 * MAX_SUBSCHEMAS });
  if (excess) tooComplex(excess);
  // The validator writes into the schema. A copy also keeps later changes to the original from having an effect.
  const root = JSON.parse(JSON.stringify(schema)) as Schema;
  const draft = draftOf(root);
  prepareNodes(root, draft);
  return { root, draft, lookup: link(root) };
}

function prepareNodes(root: Schema, draft: SchemaDraft): void {
  const names: DynamicNames = { anchors: [], references: [] };
  const nodes: Node[] = [{ schema: root, at: "", depth: 0 }];
  // The list grows while it is walked.
  for (const { schema, at, depth } of nodes) {
    if (nodes.length > MAX_SUBSCHEMAS) tooComplex(`It holds more than ${MAX_SUBSCHEMAS} subschemas.`);
    if (depth > MAX_DEPTH) tooComplex(`It is nested more than ${MAX_DEPTH} levels deep.`);
    checkKeywordShapes(schema, at);
    if (schema.$schema !== undefined && draftOf(schema) !== draft) {
      throw new SchemaError("unsupported_dialect", `The schema mixes dialects: ${at}/$schema names another one.`);
    }
    adapt(schema, draft, names);
    for (const sub of subschemasOf(schema)) {
      if (sub.schema === false) replaceFalse(schema, sub);
      else if (isObject(sub.schema)) nodes.push({ schema: sub.schema, at: at + sub.pointer, depth: depth + 1 });
      else if (sub.keyword !== "dependencies") checkIsSchema(sub.schema, at + sub.pointer);
    }
  }
  refuseAmbiguous(names);
}

/** `{ not: true }` means the same, and lets the validator say where in the schema it was. */
function replaceFalse(schema: Schema, { keyword, key }: Subschema): void {
  const holder = (key === undefined ? schema : schema[keyword]) as Record<string, unknown>;
  holder[key ?? keyword] = { not: true };
}

/** Rewrites what the validator does not know or does badly. */
function adapt(schema: Schema, draft: SchemaDraft, { anchors, references }: DynamicNames): void {
  // Only draft-04 calls it that; the validator takes it for an identifier everywhere.
  if (draft !== "4") delete schema["id"];
  // No dialect has this format, and the validator's check for it takes exponential time.
  if (schema.format === "url") delete schema.format;
  if (schema.uniqueItems) schema.maxItems = Math.min(schema.maxItems ?? Infinity, MAX_UNIQUE_ITEMS);
  if (schema.$recursiveAnchor === true) anchors.push("#");
  if (schema["$dynamicAnchor"] !== undefined) anchors.push(`#${schema["$dynamicAnchor"]}`);
  delete schema.$recursiveAnchor;
  for (const keyword of ["$dynamicRef", "$recursiveRef"] as const) {
    const reference = schema[keyword] as string | undefined;
    if (reference === undefined) continue;
    references.push(reference);
    delete schema[keyword];
    if (schema.$ref === undefined) schema.$ref = reference;
    else schema.allOf = [...(schema.allOf ?? []), { $ref: reference }];
  }
}

/**
 * With a single bearer of the name, a dynamic reference means the same as a static one. With several, which one is
 * meant depends on the way validation took, and guessing would accept values that should be refused.
 */
function refuseAmbiguous({ anchors, references }: DynamicNames): void {
  for (const reference of references) {
    const name = reference.slice(reference.indexOf("#"));
    if (anchors.filter((anchor) => anchor === name).length > 1) {
      throw new SchemaError(
        "invalid_schema",
        `The schema's dynamic reference ${shorten(reference)} could mean several schemas; use $ref.`,
      );
    }
  }
}

function link(root: Schema): Record<string, Schema> {
  const lookup = Object.create(null) as Record<string, Schema>;
  try {
    // Any hierarchical URI will do: it only has to let a relative $id and a relative $ref meet.
    dereference(root, lookup, new URL("document:///schema"));
  } catch (cause) {
    throw new SchemaError(
      "invalid_schema",
      "The schema is invalid: an $id or $ref is not a URI, or an $id is used twice.",
      { cause },
    );
  }
  const schemas = Object.values(lookup);
  for (const schema of schemas) {
    const base = schema.__absolute_uri__?.split("#", 1)[0];
    if (schema["$dynamicAnchor"] !== undefined) lookup[`${base}#${schema["$dynamicAnchor"]}`] = schema;
  }
  for (const schema of schemas) checkReference(schema, lookup);
  return lookup;
}

function checkReference({ $ref, __absolute_ref__: uri }: Schema, lookup: Record<string, Schema>): void {
  if (uri === undefined || lookup[uri] !== undefined) return;
  const isInside = lookup[uri.split("#", 1)[0] as string] !== undefined;
  const name = `The schema's $ref "${shorten($ref as string)}"`;
  throw isInside
    ? new SchemaError("invalid_schema", `${name} leads to nothing in the document.`)
    : new SchemaError(
        "external_ref",
        `${name} leads outside the document, and nothing is ever fetched. Copy what it names to "$defs", and refer to that as "#/$defs/<name>".`,
      );
}

function tooComplex(reason: string): never {
  throw new SchemaError("too_complex", `The schema is too complex. ${reason}`);
}
