import { type JsonObject, printableJson } from "mcparley";
import { isObject } from "@mcparley/internal/is-object";
import { JsonSyntaxError, parseJsonWithComments } from "../../terminal/json.ts";
import type { Talk } from "../../terminal/questions/choose.ts";
import { ownLines } from "../../terminal/questions/server-text.ts";
import { visibleLine, widthOf } from "../../terminal/text.ts";

/** Maximum columns of JSON that is edited on one line. A terminal without an editor for several lines can edit it too. */
const shortJson = 60;

/**
 * Lets the user edit an object as JSON, until it is one. Returns undefined for an empty text.
 *
 * The text contains no control characters, because JSON escapes them.
 */
export async function editJson(value: JsonObject, { prompter, view }: Talk): Promise<JsonObject | undefined> {
  const oneLine = printableJson(value);
  let initial = widthOf(oneLine) <= shortJson ? oneLine : printableJson(value, 2);
  prompter.say(view.style.dim("Edit the JSON. An empty text returns to the question without a change."));
  for (;;) {
    const typed = await prompter.ask("JSON > ", { initial, isMultiline: true });
    if (typed.trim() === "") return undefined;
    const read = readObject(typed);
    if (typeof read !== "string") return read;
    prompter.say(ownLines(visibleLine(read), view, ["! ", "  "]).map(view.style.yellow).join("\n"));
    initial = typed;
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
