import { dereference } from "@cfworker/json-schema";
import type { Schema, SchemaDraft } from "@cfworker/json-schema";
import { checkBudget } from "./budget.ts";
import { draftOf } from "./dialects.ts";
import { SchemaError, isObject, shorten } from "./schema.ts";
import type { JsonSchema, SchemaErrorCode } from "./schema.ts";
import { subschemasOf } from "./subschemas.ts";

const MAX_DEPTH = 64;
const MAX_SUBSCHEMAS = 10_000;

/** The validator goes twice through all that is below a nested `$id`, so few of these may be nested in each other. */
const DEPTH_OF_ID = 16;

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

/** Copies a schema, checks it, and links its references, which may only lead to places in the same document. */
export function prepareSchema(schema: JsonSchema): PreparedSchema {
  const excess = checkBudget(schema, { depth: 4 * MAX_DEPTH, elements: 50 * MAX_SUBSCHEMAS });
  if (excess) refuse("too_complex", `is too large. ${excess}`);
  // The validator writes into the schema. A copy also keeps later changes to the original from having an effect.
  const text = JSON.stringify(schema);
  const root = JSON.parse(text) as Schema;
  refuseAmbiguous(text);
  return { root, draft: prepareSubschemas(root), lookup: link(root) };
}

/**
 * With a single anchor, a dynamic reference means the same as a static one. With several, it depends on the way that
 * validation took, and guessing would accept values that should be refused.
 */
function refuseAmbiguous(text: string): void {
  if (/"\$(dynamic|recursive)Ref"/.test(text) && text.split(/"\$(?:dynamic|recursive)Anchor"/).length > 2) {
    refuse("invalid_schema", "has an ambiguous $dynamicRef; use $ref");
  }
}

function prepareSubschemas(root: Schema): SchemaDraft {
  const draft = draftOf(root.$schema);
  const found: [schema: Schema, at: string, depth: number][] = [[root, "#", 0]];
  // The list grows while it is walked.
  for (const [schema, at, depth] of found) {
    if (depth > MAX_DEPTH || found.length > MAX_SUBSCHEMAS) {
      refuse("too_complex", `has more than ${MAX_DEPTH} levels or ${MAX_SUBSCHEMAS} subschemas`);
    }
    const dialect = schema.$schema ?? root.$schema;
    if (!draft || draftOf(dialect) !== draft) {
      refuse(
        "unsupported_dialect",
        `has ${show(dialect)} at ${at}/$schema; use 2020-12, 2019-09, draft-07 or draft-04`,
      );
    }
    checkKeywords(schema, at);
    adapt(schema, draft);
    const below = depth + (schema.$id || schema["id"] ? DEPTH_OF_ID : 1);
    for (const { holder, key, keyword, pointer } of subschemasOf(schema)) {
      const sub = holder[key];
      // For `false` itself, the validator does not say where in the schema it was.
      if (sub === false) holder[key] = { type: "nothing" };
      else if (isObject(sub)) found.push([sub, at + pointer, below]);
      else if (sub !== true && !(keyword === "dependencies" && Array.isArray(sub)))
        invalid(at + pointer, sub, "schemas");
    }
  }
  return draft!;
}

/** Refuses what the validator would fail on, with every value, instead of judging it. */
function checkKeywords(schema: Schema, at: string): void {
  for (const keyword of ["allOf", "anyOf", "oneOf", "enum", "required"]) {
    if (!Array.isArray(schema[keyword] ?? [])) invalid(`${at}/${keyword}`, schema[keyword], "a list");
  }
  for (const pattern of [schema.pattern ?? "", ...Object.keys(schema.patternProperties ?? {})]) {
    try {
      RegExp(pattern, "u");
    } catch {
      invalid(at, pattern, "valid regular expressions");
    }
  }
}

/** Rewrites what the validator does not know or does badly. */
function adapt(schema: Schema, draft: SchemaDraft): void {
  // Only draft-04 calls it that; the validator takes it for an identifier everywhere.
  if (draft !== "4") delete schema["id"];
  // No dialect has this format, and the validator's check for it takes exponential time.
  if (schema.format === "url") delete schema.format;
  if (schema.uniqueItems && !(schema.maxItems! < MAX_UNIQUE_ITEMS)) schema.maxItems = MAX_UNIQUE_ITEMS;
  if (schema.$ref === "") schema.$ref = "#";
  schema.$anchor ??= schema["$dynamicAnchor"];
  for (const keyword of ["$dynamicRef", "$recursiveRef"]) {
    if (schema[keyword] === undefined) continue;
    (schema.allOf ??= []).push({ $ref: schema[keyword] });
    delete schema[keyword];
  }
}

function link(root: Schema): Record<string, Schema> {
  const lookup = Object.create(null) as Record<string, Schema>;
  try {
    // Any hierarchical URI will do: it only has to let a relative $id and a relative $ref meet.
    dereference(root, lookup, new URL("document:///schema"));
  } catch {
    refuse("invalid_schema", "has an $id or $ref that is no URI, or the same $id twice");
  }
  for (const { $ref, __absolute_ref__: uri = "" } of Object.values(lookup)) {
    if ($ref === undefined || lookup[uri]) continue;
    const isInside = lookup[uri.replace(/#.*/, "")] !== undefined;
    const end = isInside ? "nowhere" : 'outside; nothing is fetched, so copy it to "#/$defs/<name>"';
    refuse(isInside ? "invalid_schema" : "external_ref", `has a $ref ${show($ref)} to ${end}`);
  }
  return lookup;
}

function invalid(at: string, value: unknown, expected: string): never {
  refuse("invalid_schema", `has ${show(value)} at ${at} in place of ${expected}`);
}

function show(value: unknown): string {
  return shorten(JSON.stringify(value));
}

function refuse(code: SchemaErrorCode, reason: string): never {
  throw new SchemaError(code, `The schema ${reason}.`);
}
