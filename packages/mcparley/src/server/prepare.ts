import { LocalError } from "../jsonrpc/errors.ts";
import type { JsonObject } from "../jsonrpc/messages.ts";
import type { Prompt as ListedPrompt, PromptArgument } from "../protocol/prompts.ts";
import type { Resource as ListedResource, ResourceTemplate } from "../protocol/resources.ts";
import type { Tool as ListedTool } from "../protocol/tools.ts";
import { type McpHeader, mcpHeaders } from "../schema/mcp-headers.ts";
import { type CompiledSchema, compileSchema } from "../schema/standard-schema.ts";
import { type UriTemplate, parseTemplate } from "../schema/uri-template.ts";
import type { Prompt, Resource, Tool } from "./definition.ts";
import type { Entry } from "./registry.ts";

export interface ToolEntry extends Entry<Tool> {
  readonly listed: ListedTool;
  readonly input: CompiledSchema | undefined;
  readonly output: CompiledSchema | undefined;
  /** The arguments that are mirrored into HTTP headers. */
  readonly headers: readonly McpHeader[];
}

export interface PromptEntry extends Entry<Prompt> {
  readonly listed: ListedPrompt;
  readonly required: readonly string[];
}

export interface ResourceEntry extends Entry<Resource> {
  readonly listed: ListedResource;
  /** Undefined where the URI is no template. */
  readonly template: UriTemplate | undefined;
  readonly listedTemplate: ResourceTemplate | undefined;
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
    return { ...entry, listed, input, output, headers: mcpHeaders(inputSchema) };
  });
}

export function preparePrompt(entry: Entry<Prompt>): PromptEntry {
  const { name, definition } = entry;
  return explained(`prompt "${name}"`, () => {
    if (typeof definition.get !== "function") throw new TypeError("it has no `get` function");
    const args = Object.entries(definition.arguments ?? {});
    const listed: ListedPrompt = describe(name, definition);
    if (args.length > 0) {
      listed.arguments = args.map(([argument, { title, description, required }]) => {
        const shown: PromptArgument = { name: argument };
        if (title !== undefined) shown.title = title;
        if (description !== undefined) shown.description = description;
        if (required) shown.required = true;
        return shown;
      });
    }
    return { ...entry, listed, required: args.filter(([, { required }]) => required).map(([argument]) => argument) };
  });
}

export function prepareResource(entry: Entry<Resource>): ResourceEntry {
  const { name, definition } = entry;
  return explained(`resource "${name}"`, () => {
    const { uri, mimeType, size, annotations } = definition;
    if (typeof uri !== "string" || uri === "") throw new TypeError("it has no URI");
    if (typeof definition.read !== "function") throw new TypeError("it has no `read` function");
    const shared = {
      ...describe(name, definition),
      ...(mimeType && { mimeType }),
      ...(annotations && { annotations }),
    };
    const listed: ListedResource = { uri, ...shared };
    if (size !== undefined) listed.size = size;
    if (!uri.includes("{")) return { ...entry, listed, template: undefined, listedTemplate: undefined };
    return { ...entry, listed, template: parseTemplate(uri), listedTemplate: { uriTemplate: uri, ...shared } };
  });
}

function describe(name: string, definition: Tool | Prompt | Resource): { name: string } {
  const { title, description, icons, meta } = definition;
  const described: ListedPrompt = { name };
  if (title !== undefined) described.title = title;
  if (description !== undefined) described.description = description;
  if (icons !== undefined) described.icons = icons;
  if (meta !== undefined) described._meta = meta;
  return described;
}

/** The root of an input schema is an object (server/tools, Tool), also where it is written as a composition. */
function asObjectSchema(json: JsonObject): JsonObject {
  if (json.type === "object") return json;
  if (json.type === undefined) return { type: "object", ...json };
  throw new TypeError(`its input must be an object, not ${JSON.stringify(json.type)}`);
}

function explained<T>(what: string, prepare: () => T): T {
  try {
    return prepare();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new LocalError("invalid_definition", `The ${what} cannot be offered: ${reason}`, { cause });
  }
}
