import { type Adaptation, type Place, below } from "./adaptation.ts";
import type { Keywords } from "./flatten-schema.ts";
import { typeOfValue, typesOf } from "./json-schema-keywords.ts";
import { isObject } from "@mcparley/internal/is-object";
import { addRemark, alternatives } from "./merge-union.ts";

/** Replaces keywords that the provider does not accept by others with a similar meaning, if there are any. */
export function convertKeywords(keywords: Keywords, place: Place, run: Adaptation): void {
  if (run.rules.restrictions.has("string-enums")) convertEnum(keywords, place, run);
  convertLimits(keywords, place, run);
  convertTuple(keywords, place, run);
  removeFormat(keywords, place, run);
  removeRefusedProperties(keywords, place, run);
}

/** Removes an `enum` with other values than non-empty strings. A remark in the description names the values. */
function convertEnum(keywords: Keywords, place: Place, run: Adaptation): void {
  const values: unknown = keywords.get("enum");
  if (!Array.isArray(values)) return;
  const types = typesOf(keywords.get("type"));
  const isOfStrings = types.length === 1 && types[0] === "string";
  if (isOfStrings) {
    const strings = values.filter((value) => typeof value === "string");
    keywords.set("enum", strings);
    if (strings.length > 0 && !strings.includes("")) return;
  }
  keywords.delete("enum");
  const isWholeType =
    types[0] === "null" || (types[0] === "boolean" && values.includes(true) && values.includes(false));
  if (isWholeType) return;
  const names = values.slice(0, 30).map((value) => JSON.stringify(value));
  addRemark(keywords, `Allowed values: ${names.join(", ")}${values.length > names.length ? ", ..." : ""}.`);
  const change = "The list of values was removed. The description names them.";
  run.lose(place, { keyword: "enum", change, effect: "looser" });
}

/** Replaces exclusive limits: exactly for integers, and by an inclusive limit for other numbers. */
function convertLimits(keywords: Keywords, place: Place, run: Adaptation): void {
  const isInteger = keywords.get("type") === "integer";
  for (const [exclusive, limit, step] of [
    ["exclusiveMinimum", "minimum", 1],
    ["exclusiveMaximum", "maximum", -1],
  ] as const) {
    const value = keywords.get(exclusive);
    if (run.rules.keywords.has(exclusive) || typeof value !== "number") continue;
    keywords.delete(exclusive);
    const isExact = isInteger && Number.isSafeInteger(value) && Number.isSafeInteger(value + step);
    const inclusive = isExact ? value + step : value;
    const present = keywords.get(limit);
    const strictest = step > 0 ? Math.max : Math.min;
    keywords.set(limit, typeof present === "number" ? strictest(present, inclusive) : inclusive);
    if (isExact) continue;
    const change = `\`${exclusive}\` became \`${limit}\`, which includes the limit.`;
    run.lose(place, { keyword: exclusive, change, effect: "looser" });
  }
}

/** Replaces the schemas of a tuple by one schema for each item. */
function convertTuple(keywords: Keywords, place: Place, run: Adaptation): void {
  const tuple: unknown = keywords.get("prefixItems");
  if (run.rules.keywords.has("prefixItems") || !Array.isArray(tuple)) return;
  keywords.delete("prefixItems");
  const rest = keywords.get("items");
  // Further items can have any value, if there is no limit.
  const isOpen = rest === undefined && !(Number(keywords.get("maxItems")) <= tuple.length);
  keywords.set("items", alternatives(rest === undefined || rest === false ? tuple : [...tuple, rest]));
  if (rest === false && !keywords.has("maxItems")) keywords.set("maxItems", tuple.length);
  const change = "The schemas of the items by position became one schema for each item.";
  run.lose(place, { keyword: "prefixItems", change, effect: isOpen ? "narrower" : "looser" });
}

function removeFormat(keywords: Keywords, place: Place, run: Adaptation): void {
  const format = keywords.get("format");
  if (typeof format !== "string" || run.rules.formats === undefined || run.rules.formats.has(format)) return;
  keywords.delete("format");
  addRemark(keywords, `Format: ${format}.`);
  const change = `The format ${JSON.stringify(format.slice(0, 64))} was removed. The description names it.`;
  run.lose(place, { keyword: "format", change, effect: "looser" });
}

function removeAdditional(keywords: Keywords, place: Place, run: Adaptation): void {
  if (!keywords.delete("additionalProperties")) return;
  const change = "`additionalProperties` was removed, because it would apply to properties that were removed.";
  run.lose(place, { keyword: "additionalProperties", change, effect: "looser" });
}

/** Removes properties whose names the provider refuses. A remark in the description names them, so that the model can send them. */
function removeRefusedProperties(keywords: Keywords, place: Place, run: Adaptation): void {
  const { propertyNames } = run.rules;
  const properties = keywords.get("properties");
  if (!isObject(properties) || propertyNames.length === 0) return;
  const entries = Object.entries(properties);
  const accepted = entries.filter(([name]) => propertyNames.every((pattern) => pattern.test(name)));
  if (accepted.length === entries.length) return;
  const kept = new Set(accepted.map(([name]) => name));
  const refused = entries.map(([name]) => name).filter((name) => !kept.has(name));
  keywords.set("properties", Object.fromEntries(accepted));
  const required: unknown = keywords.get("required");
  const isRefused = new Set<unknown>(refused);
  if (Array.isArray(required))
    keywords.set(
      "required",
      required.filter((name) => !isRefused.has(name)),
    );
  removeAdditional(keywords, place, run);
  const names = refused.slice(0, 20).map((name) => JSON.stringify(name.slice(0, 64)));
  addRemark(keywords, `Further properties that can be sent: ${names.join(", ")}.`);
  for (const name of refused) {
    const change = "The property was removed, because the provider refuses its name. The description names it.";
    run.lose(below(place, "properties", name), { keyword: "properties", change, effect: "looser" });
  }
}

/** Returns the values of an `enum` that have a type. */
export function valuesOfType(values: readonly unknown[], type: string): unknown[] {
  return values.filter((value) => {
    const found = typeOfValue(value);
    return found === type || (type === "number" && found === "integer");
  });
}
