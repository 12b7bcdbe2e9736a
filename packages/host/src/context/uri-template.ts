import { parseTemplate } from "url-template";

const MAX_LENGTH = 8 * 1024;

/** Returns the names of the variables of a URI template (RFC 6570), and which of them a URI cannot be made without. */
export function templateVariables(template: string): { names: ReadonlySet<string>; required: readonly string[] } {
  const expressions = [...template.matchAll(/\{([+#./;?&]?)([^{}]*)\}/g)].map(([, operator = "", list = ""]) => ({
    isRequired: operator === "" || operator === "+",
    names: list.split(",").map((spec) => spec.replace(/(?:\*|:\d+)$/, "").trim()),
  }));
  const required = expressions.filter(({ isRequired }) => isRequired).flatMap(({ names }) => names);
  return { names: new Set(expressions.flatMap(({ names }) => names)), required: [...new Set(required)] };
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
  const { names, required } = templateVariables(template);
  const given = new Map(Object.entries(variables));
  const missing = required.filter((name) => !given.has(name));
  if (missing.length > 0)
    throw new TypeError(`The template "${template}" requires the variables ${missing.join(", ")}.`);
  const unknown = [...given.keys()].filter((name) => !names.has(name));
  if (unknown.length > 0) {
    throw new TypeError(
      `The template "${template}" has no variables ${unknown.join(", ")}. It has: ${[...names].join(", ")}.`,
    );
  }
  const values = [...given].map(([name, value]) => [name, typeof value === "string" ? value : [...value]] as const);
  const uri = parseTemplate(template).expand(Object.fromEntries(values));
  if (/[{}]/.test(uri) || !/^[a-z]/i.test(uri) || !URL.canParse(uri)) {
    throw new TypeError(`The template "${template}" expands to "${uri}", which is not an absolute URI.`);
  }
  return uri;
}
