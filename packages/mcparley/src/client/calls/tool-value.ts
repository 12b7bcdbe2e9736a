import { LocalError } from "../../rpc/errors.ts";
import { ToolError } from "../../mcp/errors.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import type { ContentBlock, TextContent } from "../../mcp/content.ts";
import type { CallToolResult } from "../../mcp/tools.ts";

/** Checks what a server answered to `tools/call`. Content of types that are not known passes as it is. */
export function readToolResult(name: string, result: JsonObject): CallToolResult {
  const { content = [] } = result;
  if (Array.isArray(content)) return { ...result, content };
  throw new LocalError("invalid_message", `The tool "${name}" was answered with "content" that is no array.`);
}

/**
 * The value that a tool gave: its structured content where there is any, else its text where all of it is text, else
 * its content. Throws `ToolError` where the tool failed.
 */
export function valueOf(name: string, result: CallToolResult): unknown {
  const { content, structuredContent, isError } = result;
  if (isError === true) {
    const text = textOf(content.filter(isText));
    throw new ToolError(text || `The tool "${name}" failed without saying why.`, { result });
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
