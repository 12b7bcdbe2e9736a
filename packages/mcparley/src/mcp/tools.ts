import { invalidParams } from "../rpc/errors.ts";
import { type JsonObject, isEmptyList, isObject } from "../rpc/messages.ts";
import type { ContentBlock, Icon } from "./content.ts";

/** Hints about the behavior of a tool. A client must not trust them unless it trusts the server. */
export interface ToolAnnotations {
  /** Name for people. `title` of the tool has precedence. */
  title?: string;
  /** Whether the tool changes nothing. Default: false. */
  readOnlyHint?: boolean;
  /** Whether the tool may delete or overwrite. Meaningful if it is not read-only. Default: true. */
  destructiveHint?: boolean;
  /** Whether a repeated call with the same arguments has no further effect. Default: false. */
  idempotentHint?: boolean;
  /** Whether the tool uses systems outside of the server, such as the web. Default: true. */
  openWorldHint?: boolean;
}

/** A tool in a list. */
export interface Tool {
  /** Name for `callTool`. Unique on a server. */
  name: string;
  /** Name for people. Default: `annotations.title`, then `name`. */
  title?: string;
  /** Purpose of the tool, for the model. */
  description?: string;
  /** JSON Schema of the arguments. Its type is `object`. */
  inputSchema: JsonObject;
  /** JSON Schema of `structuredContent`. Default: none. */
  outputSchema?: JsonObject;
  /** Hints about the behaviour of the tool. Not verified. */
  annotations?: ToolAnnotations;
  /** Icons to show for the tool. */
  icons?: readonly Icon[];
  /** Metadata of extensions. Keys have a prefix, such as `com.example/key`. */
  _meta?: JsonObject;
}

/** The result of `tools/call`. */
export interface CallToolResult {
  /** Content for the model. It can be empty. */
  content: ContentBlock[];
  /** Any JSON value. It matches the tool's output schema, if there is one. */
  structuredContent?: unknown;
  /** Whether the tool failed. `content` then explains the failure to the model. */
  isError?: boolean;
  /** Metadata of extensions. Keys have a prefix, such as `com.example/key`. */
  _meta?: JsonObject;
}

/**
 * The key of `_meta` in which structured content is sent on revisions that do not define it, or not for its type. The list
 * of tools of these revisions has no output schema, so text alone would not tell a client whether it is JSON.
 */
const structuredContentKey = "mcparley/structuredContent";

/** Moves the structured content of a result to its `_meta`, for a revision that does not define it. */
export function moveStructuredContent(result: CallToolResult): CallToolResult {
  const { structuredContent, ...otherMembers } = result;
  if (structuredContent === undefined) return result;
  return { ...otherMembers, _meta: { ...otherMembers._meta, [structuredContentKey]: structuredContent } };
}

/** Returns a result with the structured content that `moveStructuredContent` moved. */
export function restoreStructuredContent(result: CallToolResult): CallToolResult {
  if (!isObject(result._meta) || !Object.hasOwn(result._meta, structuredContentKey)) return result;
  const { _meta, ...otherMembers } = result;
  const { [structuredContentKey]: structuredContent, ...meta } = _meta;
  return { structuredContent, ...otherMembers, ...(Object.keys(meta).length > 0 && { _meta: meta }) };
}

interface CallToolParams {
  name: string;
  arguments: JsonObject;
}

/** Validates the params of `tools/call`. Missing arguments, and an empty array in their place, are an empty object. */
export function readCallToolParams(params: JsonObject): CallToolParams {
  const { name, arguments: args = {} } = params;
  if (typeof name !== "string") throw invalidParams("params.name must be a string: the name of the tool to call");
  if (isEmptyList(args)) return { name, arguments: {} };
  if (!isObject(args)) throw invalidParams("params.arguments must be an object");
  return { name, arguments: args };
}
