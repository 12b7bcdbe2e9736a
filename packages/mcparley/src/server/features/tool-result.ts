import type { JsonObject } from "../../rpc/messages.ts";
import type { ContentBlock } from "../../mcp/content.ts";
import type { CallToolResult } from "../../mcp/tools.ts";

/** A whole result of a tool, made by `toolResult`. */
export class ToolResult {
  readonly result: CallToolResult;

  constructor(result: CallToolResult) {
    this.result = result;
  }
}

/**
 * Makes a whole result, for tools that have an output schema and yet want to say what `content` is.
 *
 * `structuredContent` must match the tool's output schema unless `isError` is set.
 */
export function toolResult(result: {
  content: ContentBlock[];
  structuredContent?: unknown;
  isError?: boolean;
  _meta?: JsonObject;
}): ToolResult {
  return new ToolResult(result);
}
