import { type SamplingContent, type SamplingMessage, printable } from "mcparley";
import type { CreateMessageParams } from "mcparley/client";
import type { Talk } from "../../terminal/questions/choose.ts";

type Content = SamplingMessage["content"];

/**
 * Lets the user edit a text. Returns undefined for an empty or unchanged text.
 *
 * Control characters are escaped before, because the text is typed into the terminal.
 */
export async function editText(prompt: string, text: string, { prompter }: Talk): Promise<string | undefined> {
  const initial = printable(text);
  const typed = await prompter.ask(`${prompt} > `, { initial, isMultiline: true });
  return typed.trim() === "" || typed === initial ? undefined : typed;
}

/** Removes the system prompt, as an answer to its question. */
const remove = "/none";

/** Lets the user edit the system prompt and the last text of the user. Returns the same request if nothing has changed. */
export async function editRequest(request: CreateMessageParams, talk: Talk): Promise<CreateMessageParams> {
  const { prompter, view } = talk;
  prompter.say(view.style.dim("An empty text leaves it unchanged."));
  let edited = request;
  if (request.systemPrompt !== undefined) {
    const text = await editText(`System prompt (${remove}: remove it)`, request.systemPrompt, talk);
    if (text?.trim() === remove) {
      const { systemPrompt: _, ...rest } = edited;
      edited = rest;
    } else if (text !== undefined) edited = { ...edited, systemPrompt: text };
  }
  const messages = await editLastText(request.messages, talk);
  return messages ? { ...edited, messages } : edited;
}

async function editLastText(messages: readonly SamplingMessage[], talk: Talk): Promise<SamplingMessage[] | undefined> {
  const last = messages.findLastIndex(({ role, content }) => role === "user" && textOf(content) !== undefined);
  const message = messages[last];
  const before = message && textOf(message.content);
  if (!message || before === undefined) {
    talk.prompter.say("No message of the user has a text to edit.");
    return undefined;
  }
  const text = await editText("Last message of the user", before, talk);
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
export function blocksOf(content: Content): readonly SamplingContent[] {
  return Array.isArray(content) ? content : [content];
}
