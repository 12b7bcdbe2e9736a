import { type JsonObject, printableJson } from "mcparley";
import { isObject } from "@mcparley/internal/is-object";
import { argumentProblems } from "../../commands/arguments/argument-problems.ts";
import { JsonSyntaxError, parseJsonWithComments } from "../../terminal/json.ts";
import type { Talk } from "../../terminal/questions/choose.ts";
import { remarkLines } from "../../terminal/questions/dialog.ts";
import { type Excerpt, exactLines, excerpt, gutter } from "../../terminal/questions/server-text.ts";
import type { View } from "../../terminal/screen.ts";
import { widthOf } from "../../terminal/text.ts";

/** Maximum lines of a terminal for one line of JSON, such as a long text. */
const maxRows = 4;

/** Returns indented JSON without cuts. */
export function wholeJson(json: string, view: View): string[] {
  return json.split("\n").flatMap((line) => exactLines(line, view, gutter));
}

/** Returns indented JSON. Long values and many lines are cut, with a note of what is left out. */
export function shortJson(json: string, view: View): Excerpt {
  let hasCutValue = false;
  const lines = json.split("\n").flatMap((line) => {
    const rows = exactLines(line, view, gutter);
    if (rows.length <= maxRows) return rows;
    hasCutValue = true;
    const hiddenCharacters = rows.slice(maxRows - 1).reduce((sum, row) => sum + row.length - gutter.length, 0);
    // Without the gutter, so that a value cannot look like this note.
    const note = view.style.yellow(`  … ${hiddenCharacters} more characters of this value are not shown`);
    return [...rows.slice(0, maxRows - 1), note];
  });
  const text = excerpt(lines, view);
  return { lines: text.lines, isCut: text.isCut || hasCutValue };
}

/** Maximum columns of JSON that is edited on one line. A terminal without an editor for several lines can edit it too. */
const maxOneLine = 60;

/**
 * Lets the user edit an object as JSON, until it is one that matches the schema. Returns undefined for an empty text.
 *
 * The text contains no control characters, because JSON escapes them.
 */
export async function editJson(
  value: JsonObject,
  schema: JsonObject,
  { prompter, view }: Talk,
): Promise<JsonObject | undefined> {
  const oneLine = printableJson(value);
  let initial = widthOf(oneLine) <= maxOneLine ? oneLine : printableJson(value, 2);
  prompter.say(view.style.dim("Edit the JSON. An empty text returns to the question without a change."));
  for (;;) {
    const input = await prompter.ask("JSON > ", { initial, isMultiline: true });
    if (input.trim() === "") return undefined;
    const object = readObject(input);
    const problems = typeof object === "string" ? [object] : await argumentProblems(schema, object);
    if (typeof object !== "string" && problems.length === 0) return object;
    prompter.say(remarkLines(problems, view).join("\n"));
    initial = input;
  }
}

/** Returns the object, or why the text is none. */
function readObject(text: string): JsonObject | string {
  try {
    const { value } = parseJsonWithComments(text);
    return isObject(value) ? value : `This is JSON, but ${nameOf(value)} and not an object. Put it between { and }.`;
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    // The parser is also used for files.
    const message = error.message.replace("the file", "the text");
    return `Line ${error.line}, column ${error.column}: ${message}.`;
  }
}

function nameOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "an array" : `a ${typeof value}`;
}
