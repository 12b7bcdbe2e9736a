import type { CatalogueTool } from "../catalogue/catalogue.ts";
import { isObject } from "@mcparley/internal/is-object";
import { wordsOf } from "./words.ts";

/** A part of a tool's text. Matches in different fields have different weights. */
export type Field = "name" | "title" | "server" | "summary" | "details" | "parameters";

/** The maximum number of characters of each field. A server cannot gain weight with longer texts. */
const MAX_CHARACTERS = { name: 128, title: 128, summary: 220, details: 500, parameters: 500 } as const;

/** The depth up to which nested parameters are read. */
const MAX_DEPTH = 2;

/** Returns the words of each field of a tool. */
export function wordsOfTool({ tool, server }: CatalogueTool): ReadonlyMap<Field, string[]> {
  const description = (tool.description ?? "").slice(0, MAX_CHARACTERS.summary + MAX_CHARACTERS.details).trim();
  const summary = firstSentence(description);
  const name = wordsOf(tool.name.slice(0, MAX_CHARACTERS.name));
  const title = wordsOf(titleOf(tool).slice(0, MAX_CHARACTERS.title));
  return new Map([
    ["name", name],
    // A title that repeats the name would count twice.
    ["title", title.join(" ") === name.join(" ") ? [] : title],
    ["server", wordsOf(server)],
    ["summary", wordsOf(summary)],
    ["details", wordsOf(description.slice(summary.length, summary.length + MAX_CHARACTERS.details))],
    ["parameters", wordsOf(textOfParameters(tool.inputSchema).slice(0, MAX_CHARACTERS.parameters))],
  ]);
}

/** Returns the title of a tool. The members of `annotations` can have any type. */
function titleOf({ title, annotations }: CatalogueTool["tool"]): string {
  const found: unknown = title ?? annotations?.title;
  return typeof found === "string" ? found : "";
}

/** Returns the first sentence of a description, and at least 20 characters. */
function firstSentence(description: string): string {
  const found = /^[\s\S]{20,220}?[.!?\n](?=\s|$)/.exec(description);
  return found === null ? description.slice(0, MAX_CHARACTERS.summary) : found[0];
}

/** Returns the names and descriptions of the parameters, up to the limits of depth and length. */
function textOfParameters(schema: unknown): string {
  const parts: string[] = [];
  let length = 0;
  const read = (value: unknown, depth: number): void => {
    if (!isObject(value) || !isObject(value["properties"])) return;
    for (const [name, property] of Object.entries(value["properties"])) {
      if (length > MAX_CHARACTERS.parameters) return;
      const description =
        isObject(property) && typeof property["description"] === "string" ? property["description"] : "";
      const part = `${name} ${description.slice(0, MAX_CHARACTERS.parameters)}`;
      parts.push(part);
      length += part.length;
      if (depth >= MAX_DEPTH || !isObject(property)) continue;
      read(property, depth + 1);
      read(property["items"], depth + 1);
    }
  };
  read(schema, 1);
  return parts.join(" ");
}
