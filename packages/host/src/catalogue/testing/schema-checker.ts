import { type ProviderName, type ProviderRules, rulesOf } from "../providers.ts";

const withOne = ["items", "additionalProperties", "propertyNames", "contains", "not", "if", "then", "else"];
const withMany = ["anyOf", "oneOf", "allOf", "prefixItems"];
const withNames = ["properties", "patternProperties", "dependentSchemas", "$defs"];

/** Returns the JSON pointers of the parts of an adapted schema that a provider would refuse. */
export function violations(schema: unknown, provider: ProviderName): string[] {
  const rules = rulesOf(provider);
  const root = new Map(Object.entries(Object(schema)));
  const problems: string[] = [];
  if (root.get("type") !== "object") problems.push("the type is not object");
  if (!isObject(root.get("properties"))) problems.push("properties are missing");
  for (const keyword of root.keys()) if (rules.refusedAtRoot.has(keyword)) problems.push(`${keyword} is at the root`);
  checkNode(schema, "", { rules, problems, root: schema });
  return problems;
}

interface Check {
  readonly rules: ProviderRules;
  readonly problems: string[];
  readonly root: unknown;
}

function checkNode(schema: unknown, path: string, check: Check): void {
  const { rules, problems } = check;
  if (!isObject(schema)) {
    problems.push(`${path} is no object`);
    return;
  }
  const keywords = new Map(Object.entries(schema));
  for (const keyword of keywords.keys()) if (!rules.keywords.has(keyword)) problems.push(`${path}/${keyword}`);
  checkType(keywords, path, check);
  checkProperties(keywords, path, check);
  const reference = keywords.get("$ref");
  if (reference !== undefined && !leadsToSchema(reference, check.root)) problems.push(`${path}/$ref leads nowhere`);
  for (const keyword of withOne) {
    const child = keywords.get(keyword);
    if (child !== undefined && !(keyword === "additionalProperties" && typeof child === "boolean"))
      checkNode(child, `${path}/${keyword}`, check);
  }
  for (const keyword of withMany) {
    const children = keywords.get(keyword);
    if (children === undefined) continue;
    if (!Array.isArray(children) || children.length === 0) problems.push(`${path}/${keyword} is empty`);
    else for (const [index, child] of children.entries()) checkNode(child, `${path}/${keyword}/${index}`, check);
  }
  for (const keyword of withNames) {
    for (const [name, child] of Object.entries(Object(keywords.get(keyword))))
      checkNode(child, `${path}/${keyword}/${name}`, check);
  }
}

function checkType(keywords: ReadonlyMap<string, unknown>, path: string, { rules, problems }: Check): void {
  const { restrictions, formats } = rules;
  const type = keywords.get("type");
  const types = Array.isArray(type) ? type : [type];
  if (restrictions.has("single-type") && Array.isArray(type)) problems.push(`${path}/type is a list`);
  if (restrictions.has("type-required") && type === undefined && !keywords.has("anyOf"))
    problems.push(`${path} has no type`);
  if (restrictions.has("union-alone") && keywords.has("anyOf") && keywords.size > 1) problems.push(`${path}/anyOf`);
  if (restrictions.has("items-required") && types.includes("array") && !keywords.has("items"))
    problems.push(`${path} has no items`);
  const values = keywords.get("enum");
  const isOfStrings = Array.isArray(values) && values.every((value) => typeof value === "string" && value !== "");
  if (restrictions.has("string-enums") && values !== undefined && (!isOfStrings || type !== "string"))
    problems.push(`${path}/enum`);
  if (Array.isArray(values) && values.length === 0) problems.push(`${path}/enum is empty`);
  const constants = [
    ...(Array.isArray(values) ? values : []),
    ...(keywords.has("const") ? [keywords.get("const")] : []),
  ];
  if (type !== undefined && !constants.every((value) => types.some((name) => isOfType(value, name))))
    problems.push(`${path}/type is not that of its values`);
  if (Array.isArray(type) && new Set(type).size < type.length) problems.push(`${path}/type names a type twice`);
  const format = keywords.get("format");
  if (typeof format === "string" && formats && !formats.has(format)) problems.push(`${path}/format`);
}

function isOfType(value: unknown, type: unknown): boolean {
  if (value === null || type === "null") return value === null && type === "null";
  if (type === "integer") return Number.isInteger(value);
  return type === (Array.isArray(value) ? "array" : typeof value);
}

function checkProperties(keywords: ReadonlyMap<string, unknown>, path: string, { rules, problems }: Check): void {
  const names = Object.keys(Object(keywords.get("properties")));
  for (const name of names) {
    if (!rules.propertyNames.every((pattern) => pattern.test(name))) problems.push(`${path}/properties/${name}`);
  }
  const requiredNames = keywords.get("required");
  if (!rules.restrictions.has("required-defined") || !Array.isArray(requiredNames)) return;
  for (const name of requiredNames)
    if (!names.includes(String(name))) problems.push(`${path}/required ${String(name)}`);
}

function leadsToSchema(reference: unknown, root: unknown): boolean {
  if (reference === "#") return true;
  const [, name = ""] = /^#\/\$defs\/(.+)$/.exec(String(reference)) ?? [];
  return Object.hasOwn(Object(Object(root)["$defs"]), name);
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
