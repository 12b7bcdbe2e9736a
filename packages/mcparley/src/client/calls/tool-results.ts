import { LocalError } from "../../rpc/errors.ts";
import { ToolError } from "../../mcp/errors.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import type { ContentBlock, TextContent } from "../../mcp/content.ts";
import { type CallToolResult, restoreStructuredContent } from "../../mcp/tools.ts";

/** Checks the form of a tool result. Content of unknown types is not checked. */
export function readToolResult(name: string, result: JsonObject): CallToolResult {
  const { content = [] } = result;
  if (Array.isArray(content)) return restoreStructuredContent({ ...result, content });
  throw new LocalError("invalid_message", `The result of the tool "${name}" must contain an array "content".`);
}

/**
 * Returns the value of a tool result: its structured content, or its text if all of its content is text, or its content.
 * Throws `ToolError` for the result of a failed tool.
 */
export function valueOf(name: string, result: CallToolResult): unknown {
  const { content, structuredContent, isError } = result;
  if (isError === true) {
    const text = textOf(content.filter(isText));
    throw new ToolError(text || `The tool "${name}" failed without an error message.`, { result });
  }
  if (structuredContent !== undefined) return structuredContent;
  return content.length > 0 && content.every(isText) ? textOf(content) : content;
}

function isText(block: ContentBlock): block is TextContent {
  return block?.type === "text" && typeof block.text === "string";
}

function textOf(content: readonly TextContent[]): string {
  return content.map(({ text }) => text).join("\n");
}
