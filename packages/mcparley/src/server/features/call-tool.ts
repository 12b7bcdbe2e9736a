import { type Awaitable, after, recover } from "../../rpc/awaitable.ts";
import { invalidParams } from "../../rpc/errors.ts";
import { Cancelled, Declined, ToolError } from "../../mcp/errors.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import type { ContentBlock } from "../../mcp/content.ts";
import { type CallToolResult, readCallToolParams } from "../../mcp/tools.ts";
import type { Issue } from "../../schema/schema.ts";
import type { Call } from "../dispatch/call.ts";
import type { ToolExtension } from "../extension.ts";
import { InputRequired } from "../input/input-required.ts";
import type { ToolEntry } from "./prepare-tool.ts";
import { requireScopes } from "../dispatch/scopes.ts";
import { ToolResult } from "./tool-result.ts";

/** Answers `tools/call`. */
export function callTool(call: Call): Awaitable<JsonObject | InputRequired> {
  const { core } = call;
  const { name, arguments: args } = readCallToolParams(call.params);
  const entry = core.offering.tools.entry(name);
  if (!entry) throw invalidParams(`Unknown tool: ${name.slice(0, 200)}`, { name: name.slice(0, 200) });
  requireScopes(entry.definition.scopes, call.principal);
  const run = (input: unknown): Awaitable<JsonObject | InputRequired> =>
    after(
      core.run(call, (context) => entry.definition.call(input as never, context)),
      (returned) => (returned instanceof InputRequired ? returned : toResult(entry, returned)),
    );
  const { extensions } = entry.definition;
  return recover(
    () =>
      after(parseInput(entry, args), extensions ? (input) => prepared(call, extensions).then(() => run(input)) : run),
    toFailed,
  );
}

async function prepared(call: Call, extensions: readonly ToolExtension[]): Promise<void> {
  for (const one of extensions) await one.beforeCall?.(call);
}

/** Bad arguments are a tool error, which the model reads and corrects, rather than a protocol error. */
function parseInput(entry: ToolEntry, args: JsonObject): unknown {
  if (!entry.input) {
    const unknown = Object.keys(args);
    if (unknown.length === 0) return args;
    throw new ToolError(`${entry.name} takes no arguments; got ${unknown.slice(0, 8).join(", ")}.`);
  }
  return after(entry.input.validate(args), (outcome) => {
    if (!outcome.issues) return outcome.value;
    throw new ToolError(`The arguments of ${entry.name} are not valid:\n${listIssues(outcome.issues)}`);
  });
}

function toResult(entry: ToolEntry, returned: unknown): Awaitable<JsonObject> {
  if (returned instanceof ToolResult) return checkedResult(entry, returned.result);
  if (!entry.output) return asObject(isCallToolResult(returned) ? returned : { content: toContent(returned) });
  return after(parseOutput(entry, returned), (structuredContent) => ({
    content: [{ type: "text", text: JSON.stringify(structuredContent) }],
    structuredContent,
  }));
}

function checkedResult(entry: ToolEntry, result: CallToolResult): Awaitable<JsonObject> {
  if (!entry.output || result.isError) return asObject(result);
  return after(parseOutput(entry, result.structuredContent), (structuredContent) => ({ ...result, structuredContent }));
}

/** A result that its own schema forbids is a defect of the server: the client is told nothing but that. */
function parseOutput(entry: ToolEntry, returned: unknown): unknown {
  return after(entry.output!.validate(returned), (outcome) => {
    if (!outcome.issues) return outcome.value;
    throw new TypeError(`${entry.name} returned what its output schema forbids:\n${listIssues(outcome.issues)}`);
  });
}

/** Turns a plain value into content: a string is text, content stays content, anything else is written as JSON. */
export function toContent(value: unknown): ContentBlock[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value) && value.every((part) => typeof part === "string" || isContent(part))) {
    return value.flatMap(toContent);
  }
  if (isContent(value)) return [value];
  return [{ type: "text", text: typeof value === "string" ? value : JSON.stringify(value) }];
}

export function isContent(value: unknown): value is ContentBlock {
  if (typeof value !== "object" || value === null) return false;
  const { type, text, data, uri, resource } = value as Record<string, unknown>;
  if (type === "text") return typeof text === "string";
  if (type === "image" || type === "audio") return typeof data === "string";
  return type === "resource_link" ? typeof uri === "string" : type === "resource" && typeof resource === "object";
}

function isCallToolResult(value: unknown): value is CallToolResult {
  return typeof value === "object" && value !== null && Array.isArray((value as CallToolResult).content);
}

/** What a tool wants the model to read becomes a result; any other error goes on. */
function toFailed(error: unknown): JsonObject {
  if (error instanceof ToolError || error instanceof Declined || error instanceof Cancelled) {
    return { content: [{ type: "text", text: error.message }], isError: true };
  }
  throw error;
}

function listIssues(issues: readonly Issue[]): string {
  return issues.map(({ path, message }) => `- ${path || "/"}: ${message}`).join("\n");
}

function asObject(result: CallToolResult): JsonObject {
  return result as unknown as JsonObject;
}
