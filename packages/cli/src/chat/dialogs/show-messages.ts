import { type SamplingContent, type SamplingMessage, printableJson } from "mcparley";
import { type CreateMessageParams, readContent } from "mcparley/client";
import { ownLines, quoted, serverLines, shortLine } from "../../terminal/questions/server-text.ts";
import type { View } from "../../terminal/screen.ts";
import { showSize } from "../../terminal/show-content.ts";
import { blocksOf } from "./edit-text.ts";
import { wholeJson } from "./json-text.ts";

/** Returns the texts that the model receives: the system prompt, and each message with its role. */
export function conversationLines({ systemPrompt, messages }: CreateMessageParams, view: View): string[] {
  return [
    ...(systemPrompt === undefined ? [] : ["  System prompt:", ...serverLines(systemPrompt, view)]),
    ...messages.flatMap(({ role, content }) => [
      `  ${role === "assistant" ? "Assistant" : "User"}:`,
      ...contentLines(content, view),
    ]),
  ];
}

/** Returns all that a request contains, with its tools and settings. */
export function requestLines(request: CreateMessageParams, view: View): string[] {
  const { systemPrompt: _, messages: __, ...settings } = request;
  return [...conversationLines(request, view), "  Settings and tools:", ...wholeJson(printableJson(settings, 2), view)];
}

/** Returns the content of a message: text, and a summary of other content. */
export function contentLines(content: SamplingMessage["content"], view: View): string[] {
  return blocksOf(content).flatMap((block) => blockLines(block, view));
}

function blockLines(block: SamplingContent, view: View): string[] {
  // Without the gutter, so that a text cannot look like a summary.
  const summary = (text: string): string[] => ownLines(view.style.dim(`[${text}]`), view, ["  ", "  "]);
  switch (block.type) {
    case "text":
      return serverLines(block.text, view);
    case "image":
    case "audio":
      return summary(
        `${block.type} ${shortLine(block.mimeType)}, ${showSize(Buffer.byteLength(block.data, "base64"))}`,
      );
    case "tool_use":
      return [
        ...summary(`calls the tool ${quoted(block.name)} with`),
        ...wholeJson(printableJson(block.input, 2), view),
      ];
    case "tool_result": {
      const inner = readContent(block.content).flatMap((part) =>
        part.type === "text" ? serverLines(part.text, view) : summary(part.type),
      );
      return [
        ...summary(`${block.isError === true ? "error" : "result"} of the call ${quoted(block.toolUseId)}`),
        ...inner,
      ];
    }
    default:
      // A newer server may send an unknown kind of content.
      return wholeJson(printableJson(block, 2), view);
  }
}
