import { type Awaitable, isPromise } from "../../rpc/awaitable.ts";
import { Cancelled, Declined, ToolError } from "../../mcp/errors.ts";
import { invalidParams } from "../../rpc/errors.ts";
import { type JsonObject, isObject } from "../../rpc/messages.ts";
import { resultText } from "../../rpc/json-values.ts";
import { type CallToolResult, type Tool as ListedTool, readCallToolParams } from "../../mcp/tools.ts";
import { type CompiledSchema, compileSchema } from "../../schema/validation/compile-schema.ts";
import type { ValidationIssue, Outcome } from "../../schema/schema.ts";
import { isStandardSchema } from "../../schema/standard-schema.ts";
import { type Call, handlerContext } from "../core/call.ts";
import type { ToolEntry } from "../core/server-core.ts";
import { requireScopes } from "../core/scopes.ts";
import type { Tool } from "../core/definition-types.ts";
import { checkExtensions, checkToolName, describe, explainErrors } from "../checks/check-definition.ts";
import { checkMembers } from "../checks/known-members.ts";
import { InputRequired } from "../core/input-required.ts";
import type { Entry } from "../core/registry.ts";
import { toContent } from "./content.ts";
import { ToolResult } from "../core/tool-types.ts";

/** The input schema of a tool that declares none. */
const noInput: JsonObject = { type: "object", properties: {}, additionalProperties: false };

/** Checks the definition of a tool. Throws `invalid_definition`, naming the tool. */
export function prepareTool(entry: Entry<Tool>): ToolEntry {
  const { name, definition } = entry;
  const tool = explainErrors(`tool "${name}"`, () => {
    checkToolName(name);
    const commonMembers = describe("tool", name, definition);
    const { annotations = {}, extensions = [] } = definition;
    checkMembers("hints", annotations, "annotations");
    checkExtensions(extensions, "asTask");
    const wrongExtension = extensions.find((extension) => "methods" in extension || "middleware" in extension);
    if (wrongExtension)
      throw new TypeError(`the extension ${wrongExtension.id} belongs to createServer({ extensions: [...] })`);
    if (typeof definition.call !== "function")
      throw new TypeError("it has no `call` function; write tool({ input, call })");
    return new PreparedTool(entry, commonMembers);
  });
  // The conversion of schemas of a library takes most of the time in which a server with many tools starts.
  if (!isStandardSchema(definition.input) && !isStandardSchema(definition.output)) tool.convert();
  return tool;
}

/** The schemas of a tool, and its entry of `tools/list`, which contains them. */
type ToolSchemas = Pick<ToolEntry, "listed" | "input" | "output">;

class PreparedTool implements ToolEntry {
  readonly name: string;
  readonly definition: Tool;
  readonly position: number;
  readonly #commonMembers: { name: string };
  #schemas: ToolSchemas | undefined;

  constructor({ name, definition, position }: Entry<Tool>, commonMembers: { name: string }) {
    this.name = name;
    this.definition = definition;
    this.position = position;
    this.#commonMembers = commonMembers;
  }

  get listed(): ListedTool {
    return this.convert().listed;
  }

  get input(): CompiledSchema | undefined {
    return this.convert().input;
  }

  get output(): CompiledSchema | undefined {
    return this.convert().output;
  }

  get isConverted(): boolean {
    return this.#schemas !== undefined;
  }

  convert(): ToolSchemas {
    return (this.#schemas ??= explainErrors(`tool "${this.name}"`, () =>
      compileSchemas(this.definition, this.#commonMembers),
    ));
  }
}

function compileSchemas(definition: Tool, commonMembers: { name: string }): ToolSchemas {
  const input = compileMember(definition, "input");
  const output = compileMember(definition, "output");
  const inputSchema = input ? asObjectSchema(input.json) : noInput;
  const listed: ListedTool = { ...commonMembers, inputSchema };
  if (output) listed.outputSchema = output.json;
  if (definition.annotations) listed.annotations = definition.annotations;
  return { listed, input, output };
}

/** Compiles a schema of a tool, if it has one. The error names the member. */
function compileMember(definition: Tool, member: "input" | "output"): CompiledSchema | undefined {
  const schema = definition[member];
  try {
    return schema === undefined ? undefined : compileSchema(schema, member);
  } catch (cause) {
    throw new TypeError(`"${member}": ${(cause as Error).message}`, { cause });
  }
}

/**
 * Adds `type: "object"` to a schema without a type, such as a composition (server/tools, Tool), and `properties` to one without
 * any, because some model providers refuse all tools if one schema has no `properties`.
 */
function asObjectSchema(json: JsonObject): JsonObject {
  const { type = "object", properties } = json;
  if (type !== "object") throw new TypeError(`its input must be an object, not ${JSON.stringify(type)}`);
  return json.type && properties ? json : { type, properties: {}, ...json };
}

/**
 * Answers `tools/call`.
 *
 * Throws a `ProtocolError` -32602 if the tool is unknown, and 403 if the caller lacks a scope. Invalid arguments are a tool
 * error instead, because the model can read and correct it (SEP-1303).
 */
export function callTool(call: Call): Awaitable<JsonObject | InputRequired> {
  const { name, arguments: args } = readCallToolParams(call.params);
  const tool = call.core.offering.tools.entry(name);
  if (!tool) throw invalidParams(`Unknown tool: ${name.slice(0, 200)}`, { name: name.slice(0, 200) });
  const { scopes, extensions } = tool.definition;
  if (scopes) requireScopes(scopes, call.principal);

  // Most tools validate and answer without waiting. Promises for these steps would cost a quarter of the library's share of
  // a call (ADR 19).
  try {
    const outcome = validateInput(tool, args);
    if (isPromise(outcome) || extensions || call.core.definition.context) return callLater(tool, outcome, call);
    if (outcome.issues) throw invalidArguments(tool, outcome.issues);
    const value = tool.definition.call(outcome.value as never, call);
    return isPromise(value) ? finishCall(tool, value) : toResult(tool, value);
  } catch (error) {
    return toolErrorResult(error);
  }
}

/** Calls a tool that has an asynchronous validator, extensions, or a context to be added. */
async function callLater(
  tool: ToolEntry,
  pending: Awaitable<Outcome>,
  call: Call,
): Promise<JsonObject | InputRequired> {
  try {
    const outcome = await pending;
    if (outcome.issues) throw invalidArguments(tool, outcome.issues);
    for (const extension of tool.definition.extensions ?? []) await extension.beforeCall?.(call);
    const context = await handlerContext(call);
    return await toResult(tool, await tool.definition.call(outcome.value as never, context));
  } catch (error) {
    return toolErrorResult(error);
  }
}

async function finishCall(tool: ToolEntry, pendingValue: Promise<unknown>): Promise<JsonObject | InputRequired> {
  try {
    return await toResult(tool, await pendingValue);
  } catch (error) {
    return toolErrorResult(error);
  }
}

function validateInput(tool: ToolEntry, args: JsonObject): Awaitable<Outcome> {
  if (tool.input) return tool.input.validate(args);
  const unknown = Object.keys(args);
  if (unknown.length === 0) return { value: args };
  throw new ToolError(`${tool.name} takes no arguments; got ${unknown.slice(0, 8).join(", ")}.`);
}

function invalidArguments({ name }: ToolEntry, issues: readonly ValidationIssue[]): ToolError {
  return new ToolError(`The arguments of ${name} are not valid:\n${listIssues(issues)}`);
}

/** Makes a result from the return value of a handler, and validates it against the output schema. */
function toResult(tool: ToolEntry, value: unknown): Awaitable<JsonObject | InputRequired> {
  if (value instanceof InputRequired) return value;
  const fullResult = value instanceof ToolResult ? value.result : undefined;
  if (fullResult?.isError || (fullResult && !tool.output)) return { ...fullResult };
  if (!tool.output) {
    return isObject(value) && Array.isArray(value.content) ? value : { content: toContent(value) };
  }
  const outcome = tool.output.validate(fullResult ? fullResult.structuredContent : value);
  if (isPromise(outcome)) return outcome.then((ready) => structuredResult(tool, ready, fullResult));
  return structuredResult(tool, outcome, fullResult);
}

/** An invalid result is a defect of the server, so the client receives "Internal error" and `onError` the details. */
function structuredResult({ name }: ToolEntry, outcome: Outcome, fullResult: CallToolResult | undefined): JsonObject {
  if (outcome.issues) {
    throw new TypeError(`The result of ${name} does not match its output schema:\n${listIssues(outcome.issues)}`);
  }
  const structuredContent = outcome.value;
  if (fullResult) return { ...fullResult, structuredContent };
  return { content: [{ type: "text", text: resultText(structuredContent) }], structuredContent };
}

/** Makes the result of an error that the model should read. Rethrows every other error. */
function toolErrorResult(error: unknown): JsonObject {
  if (error instanceof ToolError || error instanceof Declined || error instanceof Cancelled) {
    return { content: [{ type: "text", text: error.message }], isError: true };
  }
  throw error;
}

function listIssues(issues: readonly ValidationIssue[]): string {
  return issues.map(({ path, message }) => `- ${path || "/"}: ${message}`).join("\n");
}
