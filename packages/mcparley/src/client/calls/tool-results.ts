import { ToolError } from "../../mcp/errors.ts";
import { type JsonObject, isObject } from "../../rpc/messages.ts";
import type { ContentBlock, TextContent } from "../../mcp/content.ts";
import { type CallToolResult, restoreStructuredContent } from "../../mcp/tools.ts";

/**
 * Returns a tool result whose content is a list. A text or a block in place of the list is its only entry: the server has run the
 * call, so an error would lose the result. The blocks are not checked.
 *
 * Structured content that is null is absent, unless it can be the value: `hasSchema`, or nothing else is in the result.
 */
export function readToolResult(answer: JsonObject, hasSchema = false): CallToolResult {
  const content = answer.content ?? [];
  const blocks = Array.isArray(content)
    ? content
    : [typeof content === "string" ? { type: "text", text: content } : content];
  const result: JsonObject & { content: ContentBlock[] } = { ...answer, content: blocks as ContentBlock[] };
  if (answer.structuredContent === null && !hasSchema && !isNullContent(answer.content))
    delete result.structuredContent;
  return restoreStructuredContent(result);
}

/** Returns whether content is what a server sends beside structured content that is null: its JSON as text, or nothing. */
function isNullContent(content: unknown): boolean {
  const [block, ...otherBlocks] = Array.isArray(content) ? content : [content];
  return otherBlocks.length === 0 && (!block || (isObject(block) && block.text === "null"));
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
