import type { Prompt, Resource, ResourceTemplate, Tool } from "mcparley";
import { type ArgumentSummary, summarizeArguments } from "./schema-summary.ts";
import { type View, paragraph } from "../../terminal/screen.ts";
import { showSize } from "../../terminal/show-content.ts";
import { cut, visibleLine, widthOf, wrap } from "../../terminal/text.ts";

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
  parts: readonly ArgumentSummary[];
}

const titles = {
  tools: "Tools",
  prompts: "Prompts",
  resources: "Resources",
  resourceTemplates: "Resource templates",
} as const;

/** The reason why a list can be empty, and the cure. */
export const mayHide: string =
  "A server can hide entries from callers that lack scopes. With a URL, sign in or send a token that has them. A program on stdio " +
  'has the scopes that its author sets: the option "principal" of serveStdio.';

/** Returns one line for each tool: its name, its marks, and the start of its description. */
export function showToolLines(tools: readonly Tool[], { width, style }: View): string {
  const lines = tools.map((tool) => {
    const { name, marks, description = "" } = toolEntry(tool);
    const markText = marks.length > 0 ? ` [${marks.map(visibleLine).join(", ")}]` : "";
    const line = cut(`  ${visibleLine(name)}${markText}  ${visibleLine(description)}`.trimEnd(), width);
    const end = 2 + visibleLine(name).length;
    return `${style.bold(line.slice(0, end))}${style.dim(line.slice(end))}`;
  });
  return [style.bold(`${titles.tools} (${tools.length})`), ...lines].join("\n");
}

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
  const markText = marks.length > 0 ? `[${marks.map(visibleLine).join(", ")}]` : "";
  const heading = `  ${bold(visibleLine(name))}`;
  const fits = widthOf(`${heading} ${markText}`) <= view.width;
  const lines = fits
    ? [[heading, dim(markText)].filter(Boolean).join(" ")]
    : [heading, hanging(markText, view, { mark: dim })];
  if (description) lines.push(paragraph(description, view, "    "));
  lines.push(...parts.map((part) => showPart(part, view, "    ")));
  return lines.join("\n");
}

/**
 * Formats a part and, below it, its fields. The description starts on the label's line if its first words fit there.
 * Further lines are indented.
 */
function showPart({ name, facts, description, fields = [] }: ArgumentSummary, view: View, indent: string): string {
  const text = description === undefined ? "" : visibleLine(description);
  const label = facts === "" ? visibleLine(name) : `${visibleLine(name)} (${visibleLine(facts)})`;
  const start = text === "" ? `- ${label}` : `- ${label}:`;
  const line = `${indent}${start} ${text}`.trimEnd();
  const lines = [line];
  if (widthOf(line) > view.width) {
    lines.splice(0, 1, hanging(start, view, { indent }));
    if (text !== "") lines.push(paragraph(text, view, `${indent}    `));
  }
  lines.push(...fields.map((field) => showPart(field, view, `${indent}  `)));
  return lines.join("\n");
}

/** Wraps one line and indents all of its parts. */
function hanging(
  line: string,
  view: View,
  { indent = "    ", mark = (text) => text }: { indent?: string; mark?: (text: string) => string } = {},
): string {
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
