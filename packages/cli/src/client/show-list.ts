import type { JsonObject, Prompt, Resource, ResourceTemplate, Tool } from "mcparley";
import { isObject } from "./json.ts";
import { resolveReference, typesOf } from "./schema-types.ts";
import { type View, paragraph } from "./screen.ts";
import { showSize } from "./show-content.ts";
import { visibleLine, widthOf, wrap } from "./terminal-text.ts";

/** The requested lists of a server: the members of `list --json`. */
export interface Offer {
  tools?: Tool[];
  prompts?: Prompt[];
  resources?: Resource[];
  resourceTemplates?: ResourceTemplate[];
}

/** One entry of a list: its name, its description and its parts. */
interface Entry {
  name: string;
  marks: string[];
  description: string | undefined;
  parts: { name: string; facts: string; description: string | undefined }[];
}

const titles = {
  tools: "Tools",
  prompts: "Prompts",
  resources: "Resources",
  resourceTemplates: "Resource templates",
} as const;

/** Returns the lists as text: one section for each list, long text wrapped. */
export function showOffer(offer: Offer, view: View): string {
  const sections = [
    section("tools", offer.tools?.map(toolEntry), view),
    section("prompts", offer.prompts?.map(promptEntry), view),
    section("resources", offer.resources?.map(resourceEntry), view),
    section("resourceTemplates", offer.resourceTemplates?.map(templateEntry), view),
  ];
  return sections.filter((text) => text !== undefined).join("\n\n");
}

function section(kind: keyof typeof titles, entries: Entry[] | undefined, view: View): string | undefined {
  if (!entries) return undefined;
  const heading = view.style.bold(`${titles[kind]} (${entries.length})`);
  return [heading, ...entries.map((entry) => showEntry(entry, view))].join("\n");
}

function showEntry({ name, marks, description, parts }: Entry, view: View): string {
  const { bold, dim } = view.style;
  const about = marks.length > 0 ? `[${marks.map(visibleLine).join(", ")}]` : "";
  const heading = `  ${bold(visibleLine(name))}`;
  const fits = widthOf(`${heading} ${about}`) <= view.width;
  const lines = fits ? [[heading, dim(about)].filter(Boolean).join(" ")] : [heading, hanging(about, view, dim)];
  if (description) lines.push(paragraph(description, view, "    "));
  const shown = parts.map((part) => ({ label: `${visibleLine(part.name)} (${visibleLine(part.facts)})`, part }));
  for (const { label, part } of shown) lines.push(showPart(label, part.description, view));
  return lines.join("\n");
}

/** Formats a part. It starts on the label's line if its first words fit there. Further lines are indented. */
function showPart(label: string, description: string | undefined, view: View): string {
  const text = description === undefined ? "" : visibleLine(description);
  const start = text === "" ? `- ${label}` : `- ${label}:`;
  const line = `    ${start} ${text}`.trimEnd();
  if (widthOf(line) <= view.width) return line;
  const first = hanging(start, view);
  return text === "" ? first : `${first}\n${paragraph(text, view, "        ")}`;
}

/** Wraps one line and indents all of its parts. */
function hanging(line: string, view: View, mark = (text: string): string => text): string {
  const indent = "    ";
  return wrap(line, view.width - indent.length)
    .map((part) => indent + mark(part))
    .join("\n");
}

function toolEntry({ name, title, description, inputSchema, annotations }: Tool): Entry {
  const marks: string[] = [];
  const shownTitle = title ?? annotations?.title;
  if (shownTitle !== undefined && shownTitle !== name) marks.push(shownTitle);
  if (annotations?.readOnlyHint) marks.push("read-only");
  else if (annotations?.destructiveHint) marks.push("destructive");
  return { name, marks, description, parts: summarizeArguments(inputSchema) };
}

function promptEntry({ name, title, description, arguments: parameters = [] }: Prompt): Entry {
  const parts = parameters.map((one) => ({
    name: one.name,
    facts: one.required ? "required" : "optional",
    description: one.description ?? one.title,
  }));
  return { name, marks: title === undefined || title === name ? [] : [title], description, parts };
}

function resourceEntry({ uri, name, title, description, mimeType, size }: Resource): Entry {
  const marks = [title ?? name, mimeType, size === undefined ? undefined : showSize(size)];
  return {
    name: uri,
    marks: marks.filter((mark) => mark !== undefined && mark !== uri) as string[],
    description,
    parts: [],
  };
}

function templateEntry({ uriTemplate, name, title, description, mimeType }: ResourceTemplate): Entry {
  const marks = [title ?? name, mimeType].filter((mark) => mark !== undefined);
  return { name: uriTemplate, marks, description, parts: [] };
}

/** The summary of one argument of a tool. */
interface ArgumentSummary {
  readonly name: string;
  /** Such as `string, required` or `"red" | "blue", default "red"`. */
  readonly facts: string;
  readonly description: string | undefined;
}

/** Maximum number of shown choices. A longer list is only counted. */
const mostChoices = 8;

/** Returns the arguments of an input schema, in its order. */
function summarizeArguments(schema: JsonObject): ArgumentSummary[] {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  return Object.entries(properties).map(([name, property]) => {
    const resolved = resolveReference(property, schema);
    const known = isObject(resolved) ? resolved : {};
    const facts = [typeLabel(property, schema), rangeOf(known)];
    if (required.has(name)) facts.push("required");
    if (known.default !== undefined) facts.push(`default ${JSON.stringify(known.default)}`);
    const description = isObject(property) ? (property.description ?? known.description) : undefined;
    return {
      name,
      facts: facts.filter(Boolean).join(", "),
      description: typeof description === "string" ? description : undefined,
    };
  });
}

function typeLabel(schema: unknown, root: JsonObject, depth = 0): string {
  const resolved = resolveReference(schema, root);
  if (!isObject(resolved) || depth > 3) return "any";
  if (Array.isArray(resolved.enum)) return choicesLabel(resolved.enum);
  if ("const" in resolved) return JSON.stringify(resolved.const);
  const types = typesOf(resolved, root);
  if (!types || types.size === 0) return "any";
  if (types.has("array") && types.size === 1) return `${typeLabel(resolved.items, root, depth + 1)}[]`;
  const format = types.size === 1 && types.has("string") ? resolved.format : undefined;
  const names = [...types].join(" | ");
  return typeof format === "string" ? `${names} (${format})` : names;
}

function choicesLabel(choices: readonly unknown[]): string {
  if (choices.length <= mostChoices) return choices.map((choice) => JSON.stringify(choice)).join(" | ");
  return `one of ${choices.length}`;
}

function rangeOf({ minimum, maximum }: JsonObject): string {
  if (typeof minimum === "number" && typeof maximum === "number") return `${minimum} to ${maximum}`;
  if (typeof minimum === "number") return `at least ${minimum}`;
  return typeof maximum === "number" ? `at most ${maximum}` : "";
}
