import type { JsonObject } from "mcparley";
import { adaptKeywords, adaptNode, isSimpleObject, negations } from "./adapt-node.ts";
import { type Adaptation, type Place, type SchemaOrigin, startAdaptation } from "./adaptation.ts";
import { type SchemaNode, flattenSchema } from "./flatten-schema.ts";
import { isObject } from "@mcparley/internal/is-object";
import { mergeUnion } from "./merge-union.ts";
import { prepareKeywords } from "./prepare-keywords.ts";
import { type ProviderName, rulesOf } from "./providers.ts";
import type { SchemaLoss } from "./schema-loss.ts";

/** A schema that a provider accepts, and the changes that were made for it. */
export interface AdaptedSchema {
  readonly schema: JsonObject;
  readonly losses: readonly SchemaLoss[];
}

/**
 * Adapts the input schema of a tool to a model provider.
 *
 * All keywords that the provider accepts are kept. Other keywords are replaced or removed, and each change of the meaning is
 * reported. The schema is bounded in depth and size, references to other documents are not followed, and
 * any JSON is adapted without an error.
 */
export function adaptSchema(schema: unknown, provider: ProviderName, at: SchemaOrigin): AdaptedSchema {
  const rules = rulesOf(provider);
  if (isSimpleObject(schema, rules)) {
    const { type, properties, ...others } = schema;
    return { schema: { type, properties, ...others }, losses: [] };
  }
  const run = startAdaptation(schema, rules, at);
  const root: Place = { pointer: "", depth: 0, open: [schema] };
  const adapted = adaptRoot(schema, root, run);
  const definitions = new Map<string, JsonObject>();
  // A definition can be used below a negation anywhere in the document.
  const isNegated = run.definitions.size > 0 && hasNegation(schema);
  // A definition can add further ones, which the loop reaches.
  for (const [name, target] of run.definitions) {
    definitions.set(name, adaptNode(target.schema, { ...root, pointer: target.pointer, isNegated }, run));
  }
  const schemas = definitions.size > 0 && { $defs: Object.fromEntries(definitions) };
  return { schema: { ...adapted, ...schemas }, losses: run.losses };
}

function hasNegation(schema: unknown): boolean {
  const json = JSON.stringify(schema);
  return negations.some((keyword) => json.includes(`"${keyword}":`));
}

/** Adapts the outermost schema. All providers require an object there. */
function adaptRoot(schema: unknown, place: Place, run: Adaptation): JsonObject {
  const refused = (keyword: string) => run.rules.refusedAtRoot.has(keyword) || !run.rules.keywords.has(keyword);
  const options = { run, references: true, allOf: refused("allOf") };
  const node = flattenSchema(isObject(schema) ? schema : {}, place, options);
  prepareKeywords(node.keywords, node.place, run);
  for (const keyword of ["anyOf", "oneOf"] as const) {
    if (node.keywords.has(keyword) && refused(keyword)) mergeUnion(node, keyword, run);
  }
  setObject(node, run);
  const { type, properties, ...others } = adaptKeywords(node, run);
  return { type, properties: properties ?? {}, ...others };
}

/** Sets the type to `object`, and removes the keywords that are refused in the outermost schema. */
function setObject({ keywords, place }: SchemaNode, run: Adaptation): void {
  const type = keywords.get("type");
  keywords.set("type", "object");
  if (type !== undefined && type !== "object") {
    const change = "The type became `object`, because arguments are always an object.";
    run.lose(place, { keyword: "type", change, effect: "looser" });
  }
  for (const keyword of run.rules.refusedAtRoot) {
    if (!keywords.delete(keyword)) continue;
    const change = `\`${keyword}\` was removed. The provider refuses it in the outermost schema.`;
    run.lose(place, { keyword, change, effect: "looser" });
  }
}
