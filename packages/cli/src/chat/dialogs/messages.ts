import { type SamplingContent, type SamplingMessage, printable, printableJson } from "mcparley";
import { type CreateMessageParams, readContent } from "mcparley/client";
import type { Talk } from "../../terminal/questions/choose.ts";
import { ownLines, quoteName, serverLines, shortLine } from "../../terminal/questions/server-text.ts";
import type { View } from "../../terminal/screen.ts";
import { showSize } from "../../terminal/show-content.ts";
import { wholeJson } from "./json-text.ts";

type Content = SamplingMessage["content"];

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
export function contentLines(content: Content, view: View): string[] {
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
        ...summary(`calls the tool ${quoteName(block.name)} with`),
        ...wholeJson(printableJson(block.input, 2), view),
      ];
    case "tool_result": {
      const inner = readContent(block.content).flatMap((part) =>
        part.type === "text" ? serverLines(part.text, view) : summary(part.type),
      );
      return [
        ...summary(`${block.isError === true ? "error" : "result"} of the call ${quoteName(block.toolUseId)}`),
        ...inner,
      ];
    }
    default:
      // A newer server may send an unknown kind of content.
      return wholeJson(printableJson(block, 2), view);
  }
}

/**
 * Lets the user edit a text. Returns undefined for an empty or unchanged text.
 *
 * Control characters are escaped before, because the text is typed into the terminal.
 */
export async function editText(prompt: string, text: string, { prompter }: Talk): Promise<string | undefined> {
  const initial = printable(text);
  const input = await prompter.ask(`${prompt} > `, { initial, isMultiline: true });
  return input.trim() === "" || input === initial ? undefined : input;
}

/** Removes the system prompt, as an answer to its question. */
const remove = "/none";

/** Lets the user edit the system prompt and the last text of the user. Returns the same request if nothing has changed. */
export async function editRequest(request: CreateMessageParams, talk: Talk): Promise<CreateMessageParams> {
  const { prompter, view } = talk;
  prompter.say(view.style.dim("An empty text leaves it unchanged."));
  let newRequest = request;
  if (request.systemPrompt !== undefined) {
    const text = await editText(`System prompt (${remove}: remove it)`, request.systemPrompt, talk);
    if (text?.trim() === remove) {
      const { systemPrompt: _, ...requestWithoutPrompt } = newRequest;
      newRequest = requestWithoutPrompt;
    } else if (text !== undefined) newRequest = { ...newRequest, systemPrompt: text };
  }
  const messages = await editLastText(request.messages, talk);
  return messages ? { ...newRequest, messages } : newRequest;
}

async function editLastText(messages: readonly SamplingMessage[], talk: Talk): Promise<SamplingMessage[] | undefined> {
  const last = messages.findLastIndex(({ role, content }) => role === "user" && textOf(content) !== undefined);
  const message = messages[last];
  const oldText = message && textOf(message.content);
  if (!message || oldText === undefined) {
    talk.prompter.say("No message of the user has a text to edit.");
    return undefined;
  }
  const text = await editText("Last message of the user", oldText, talk);
  return text === undefined
    ? undefined
    : messages.with(last, { ...message, content: replaceText(message.content, text) });
}

/** Returns the texts of a message, or undefined if it has none. */
export function textOf(content: Content): string | undefined {
  const texts = blocksOf(content).flatMap((block) => (block.type === "text" ? block.text : []));
  return texts.length === 0 ? undefined : texts.join("\n\n");
}

/** Returns a content with one text in place of its texts. Other blocks are unchanged. */
export function replaceText(content: Content, text: string): Content {
  if (!Array.isArray(content)) return content.type === "text" ? { ...content, text } : content;
  const first = content.findIndex(({ type }) => type === "text");
  return content.flatMap((block, index) => {
    if (block.type !== "text") return block;
    return index === first ? { ...block, text } : [];
  });
}

/** Returns the blocks of a message. */
function blocksOf(content: Content): readonly SamplingContent[] {
  return Array.isArray(content) ? content : [content];
}
