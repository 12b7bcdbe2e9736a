import { LocalError, type JsonObject } from "mcparley";
import { type Tool, createServer, tool } from "mcparley/server";
import { type Field, fieldAt, plain, wrong } from "../yaml/yaml-fields.ts";

/** Reads a JSON Schema of a tool. Throws `FolderProblem` at the position of the keyword that is wrong. */
export function schemaOf(field: Field, part: "input" | "output"): JsonObject {
  const schema = plain(field) as JsonObject;
  const checkedTool = tool({ [part]: schema, call: () => "" }) as Tool;
  try {
    createServer({ name: "check", version: "0.0.0", tools: { checked: checkedTool } });
  } catch (error) {
    if (!(error instanceof LocalError)) throw error;
    const message = error.message.replace(/^The tool "checked" cannot be offered: /, "");
    const pointer = /#(\/[^\s,]*)/.exec(message)?.[1];
    const place = pointer === undefined ? field : fieldAt(field, pointer);
    throw wrong(place, message.replace(/\.$/, ""), "Correct the schema. It is read again when it is saved.");
  }
  return schema;
}
