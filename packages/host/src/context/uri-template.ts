import { parseTemplate } from "url-template";

/** Maximum length of a URI template in UTF-16 units. */
const MAX_LENGTH = 8 * 1024;

/** A variable of a URI template. */
export interface TemplateVariable {
  /** The name in the template, without an operator or a modifier. */
  readonly name: string;
  /** Whether a URI cannot be made without it: it occurs in `{name}` or `{+name}`. The other expressions may be empty. */
  readonly isRequired: boolean;
}

/**
 * Returns the variables of a URI template (RFC 6570), each once, in their order. They are what `attachTemplate` of a conversation needs.
 * A template of more than 8,192 characters has none, and `attachTemplate` rejects it.
 *
 * @example
 * ```ts
 * import { type Catalogue, templateVariables } from "@mcparley/host";
 *
 * export function questions({ templates }: Catalogue): string[] {
 *   return templates.flatMap(({ template }) =>
 *     templateVariables(template.uriTemplate).map(({ name, isRequired }) => (isRequired ? `${name}:` : `${name} (optional):`)),
 *   );
 * }
 * ```
 */
export function templateVariables(template: string): TemplateVariable[] {
  if (template.length > MAX_LENGTH) return [];
  const occurrences = [...template.matchAll(/\{([+#./;?&]?)([^{}]*)\}/g)].flatMap(([, operator = "", list = ""]) =>
    list
      .split(",")
      .map((spec) => ({ name: spec.replace(/(?:\*|:\d+)$/, "").trim(), isRequired: /^\+?$/.test(operator) })),
  );
  const names = new Set(occurrences.map(({ name }) => name));
  return [...names].map((name) => ({
    name,
    isRequired: occurrences.some((one) => one.name === name && one.isRequired),
  }));
}

/**
 * Returns the URI of a template instance (RFC 6570). Throws if a variable is missing or unknown, or if the result is not an absolute URI.
 * Variables of `{x}` and `{+x}` are required.
 */
export function expandTemplate(
  template: string,
  variables: Readonly<Record<string, string | readonly string[]>>,
): string {
  if (template.length > MAX_LENGTH) throw new RangeError(`The URI template is longer than ${MAX_LENGTH} characters.`);
  const templateVars = templateVariables(template);
  const names = templateVars.map(({ name }) => name);
  const valuesByName = new Map(Object.entries(variables));
  const missing = templateVars
    .filter(({ name, isRequired }) => isRequired && !valuesByName.has(name))
    .map(({ name }) => name);
  if (missing.length > 0)
    throw new TypeError(`The template "${template}" requires the variables ${missing.join(", ")}.`);
  const unknown = [...valuesByName.keys()].filter((name) => !names.includes(name));
  if (unknown.length > 0) {
    throw new TypeError(
      `The template "${template}" has no variables ${unknown.join(", ")}. It has: ${names.join(", ")}.`,
    );
  }
  const values = [...valuesByName].map(
    ([name, value]) => [name, typeof value === "string" ? value : [...value]] as const,
  );
  const uri = parseTemplate(template).expand(Object.fromEntries(values));
  if (/[{}]/.test(uri) || !/^[a-z]/i.test(uri) || !URL.canParse(uri)) {
    throw new TypeError(`The template "${template}" expands to "${uri}", which is not an absolute URI.`);
  }
  return uri;
}
