import { type ProviderName, type ProviderRules, rulesOf } from "../providers.ts";

const withOne = ["items", "additionalProperties", "propertyNames", "contains", "not", "if", "then", "else"];
const withMany = ["anyOf", "oneOf", "allOf", "prefixItems"];
const withNames = ["properties", "patternProperties", "dependentSchemas", "$defs"];

/** Returns the JSON pointers of the parts of an adapted schema that a provider would refuse. */
export function violations(schema: unknown, provider: ProviderName): string[] {
  const rules = rulesOf(provider);
  const root = new Map(Object.entries(Object(schema)));
  const found: string[] = [];
  if (root.get("type") !== "object") found.push("the type is not object");
  if (!isObject(root.get("properties"))) found.push("properties are missing");
  for (const keyword of root.keys()) if (rules.refusedAtRoot.has(keyword)) found.push(`${keyword} is at the root`);
  checkNode(schema, "", { rules, found, root: schema });
  return found;
}

interface Check {
  readonly rules: ProviderRules;
  readonly found: string[];
  readonly root: unknown;
}

function checkNode(schema: unknown, path: string, check: Check): void {
  const { rules, found } = check;
  if (!isObject(schema)) {
    found.push(`${path} is no object`);
    return;
  }
  const keywords = new Map(Object.entries(schema));
  for (const keyword of keywords.keys()) if (!rules.keywords.has(keyword)) found.push(`${path}/${keyword}`);
  checkType(keywords, path, check);
  checkProperties(keywords, path, check);
  const reference = keywords.get("$ref");
  if (reference !== undefined && !leadsToSchema(reference, check.root)) found.push(`${path}/$ref leads nowhere`);
  for (const keyword of withOne) {
    const child = keywords.get(keyword);
    if (child !== undefined && !(keyword === "additionalProperties" && typeof child === "boolean"))
      checkNode(child, `${path}/${keyword}`, check);
  }
  for (const keyword of withMany) {
    const children = keywords.get(keyword);
    if (children === undefined) continue;
    if (!Array.isArray(children) || children.length === 0) found.push(`${path}/${keyword} is empty`);
    else for (const [index, child] of children.entries()) checkNode(child, `${path}/${keyword}/${index}`, check);
  }
  for (const keyword of withNames) {
    for (const [name, child] of Object.entries(Object(keywords.get(keyword))))
      checkNode(child, `${path}/${keyword}/${name}`, check);
  }
}

function checkType(keywords: ReadonlyMap<string, unknown>, path: string, { rules, found }: Check): void {
  const { restrictions, formats } = rules;
  const type = keywords.get("type");
  const types = Array.isArray(type) ? type : [type];
  if (restrictions.has("single-type") && Array.isArray(type)) found.push(`${path}/type is a list`);
  if (restrictions.has("type-required") && type === undefined && !keywords.has("anyOf"))
    found.push(`${path} has no type`);
  if (restrictions.has("union-alone") && keywords.has("anyOf") && keywords.size > 1) found.push(`${path}/anyOf`);
  if (restrictions.has("items-required") && types.includes("array") && !keywords.has("items"))
    found.push(`${path} has no items`);
  const values = keywords.get("enum");
  const isOfStrings = Array.isArray(values) && values.every((value) => typeof value === "string" && value !== "");
  if (restrictions.has("string-enums") && values !== undefined && (!isOfStrings || type !== "string"))
    found.push(`${path}/enum`);
  if (Array.isArray(values) && values.length === 0) found.push(`${path}/enum is empty`);
  const format = keywords.get("format");
  if (typeof format === "string" && formats && !formats.has(format)) found.push(`${path}/format`);
}

function checkProperties(keywords: ReadonlyMap<string, unknown>, path: string, { rules, found }: Check): void {
  const names = Object.keys(Object(keywords.get("properties")));
  for (const name of names) {
    if (!rules.propertyNames.every((pattern) => pattern.test(name))) found.push(`${path}/properties/${name}`);
  }
  const required = keywords.get("required");
  if (!rules.restrictions.has("required-defined") || !Array.isArray(required)) return;
  for (const name of required) if (!names.includes(String(name))) found.push(`${path}/required ${String(name)}`);
}

function leadsToSchema(reference: unknown, root: unknown): boolean {
  if (reference === "#") return true;
  const [, name = ""] = /^#\/\$defs\/(.+)$/.exec(String(reference)) ?? [];
  return Object.hasOwn(Object(Object(root)["$defs"]), name);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
