import { invalidParams } from "../rpc/errors.ts";
import { type JsonObject, isObject } from "../rpc/messages.ts";
import type { ContentBlock, Icon } from "./content.ts";

/** Hints about the behavior of a tool. A client must not trust them unless it trusts the server. */
export interface ToolAnnotations {
  title?: string;
  readOnlyHint?: boolean;
  destructiveHint?: boolean;
  idempotentHint?: boolean;
  openWorldHint?: boolean;
}

/** A tool in a list. */
export interface Tool {
  name: string;
  title?: string;
  description?: string;
  inputSchema: JsonObject;
  outputSchema?: JsonObject;
  annotations?: ToolAnnotations;
  icons?: readonly Icon[];
  _meta?: JsonObject;
}

/** The result of `tools/call`. */
export interface CallToolResult {
  content: ContentBlock[];
  /** Any JSON value. It matches the tool's output schema, if there is one. */
  structuredContent?: unknown;
  /** Whether the tool failed. `content` then explains the failure to the model. */
  isError?: boolean;
  _meta?: JsonObject;
}

export interface CallToolParams {
  name: string;
  arguments: JsonObject;
}

/** Validates the params of `tools/call`. Missing arguments are an empty object. */
export function readCallToolParams(params: JsonObject): CallToolParams {
  const { name, arguments: args } = params;
  if (typeof name !== "string") throw invalidParams("params.name must be a string: the name of the tool to call");
  if (args !== undefined && !isObject(args)) throw invalidParams("params.arguments must be an object");
  return { name, arguments: args ?? {} };
}
