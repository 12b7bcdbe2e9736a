import type { JsonObject } from "../../rpc/messages.ts";
import type { Tool as ListedTool } from "../../mcp/tools.ts";
import { type CompiledSchema, compileSchema } from "../../schema/compile-schema.ts";
import type { Tool } from "../definition.ts";
import { describe, explained } from "../describe.ts";
import type { Entry } from "../registry.ts";

export interface ToolEntry extends Entry<Tool> {
  readonly listed: ListedTool;
  readonly input: CompiledSchema | undefined;
  readonly output: CompiledSchema | undefined;
}

/** What a tool without an input schema accepts. */
const noInput: JsonObject = { type: "object", additionalProperties: false };

export function prepareTool(entry: Entry<Tool>): ToolEntry {
  const { name, definition } = entry;
  return explained(`tool "${name}"`, () => {
    if (typeof definition.call !== "function") throw new TypeError("it has no `call` function");
    const input = definition.input === undefined ? undefined : compileSchema(definition.input, "input");
    const output = definition.output === undefined ? undefined : compileSchema(definition.output, "output");
    const inputSchema = input ? asObjectSchema(input.json) : noInput;
    const listed: ListedTool = { ...describe(name, definition), inputSchema };
    if (output) listed.outputSchema = output.json;
    if (definition.annotations) listed.annotations = definition.annotations;
    return { ...entry, listed, input, output };
  });
}

/** The root of an input schema is an object (server/tools, Tool), also where it is written as a composition. */
function asObjectSchema(json: JsonObject): JsonObject {
  if (json.type === "object") return json;
  if (json.type === undefined) return { type: "object", ...json };
  throw new TypeError(`its input must be an object, not ${JSON.stringify(json.type)}`);
}
