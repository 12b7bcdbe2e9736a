import {
  type ContentBlock,
  ErrorCode,
  ProtocolError,
  type SamplingContent,
  type ToolResultContent,
  type ToolUseContent,
} from "mcparley";
import { type CreateMessageParams, readContent } from "mcparley/client";
import { isBase64 } from "@mcparley/internal/base64";
import { isObject } from "@mcparley/internal/is-object";
import { withoutDeepLevels } from "../values/map-texts.ts";
import type {
  AssistantPart,
  FilePart,
  Message,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from "../conversation/messages.ts";
import type { ProviderMemory } from "./provider-memory.ts";
import type { ToolNames } from "./tool-names.ts";

/**
 * Returns the conversation of a sampling request for the model, without its system prompt. Throws a `ProtocolError` for content
 * that no model can receive.
 *
 * The client has already checked that each tool use is followed by its result.
 */
export function samplingMessages(
  messages: CreateMessageParams["messages"],
  { names, memory }: { names: ToolNames; memory: ProviderMemory },
): Message[] {
  const called = new Map<string, string>();
  return messages.map(({ role, content }, index): Message => {
    const blocks = Array.isArray(content) ? content : [content];
    const at = `messages[${index}]`;
    if (role === "assistant") {
      for (const block of blocks) {
        if (block.type === "tool_use" && typeof block.name === "string")
          called.set(block.id, names.forModel(block.name));
      }
      return { role, content: assistantParts(blocks, { at, names, memory }) };
    }
    const results = blocks.filter((block) => block.type === "tool_result");
    if (results.length === 0) return { role, content: blocks.map((block) => userPart(block, at)) };
    return { role: "tool", content: results.map((result) => toolResult(result, { at, called })) };
  });
}

interface Known {
  /** The position of the message in the params, for errors. */
  readonly at: string;
  readonly names: ToolNames;
  readonly memory: ProviderMemory;
}

function assistantParts(blocks: readonly SamplingContent[], known: Known): AssistantPart[] {
  const firstCall = blocks.findIndex(({ type }) => type === "tool_use");
  const parts: AssistantPart[] = [];
  for (const [index, block] of blocks.entries()) {
    if (block.type !== "tool_use") {
      parts.push(userPart(block, known.at));
      continue;
    }
    const reasoning = known.memory.recall(block.id)?.reasoning ?? [];
    // Some providers require that a message begins with its reasoning. It was before the text that precedes the first call.
    if (index === firstCall) parts.unshift(...reasoning);
    else parts.push(...reasoning);
    parts.push(toolCall(block, known));
  }
  return parts;
}

function toolCall({ id, name, input }: ToolUseContent, { at, names, memory }: Known): ToolCallPart {
  if (typeof id !== "string" || typeof name !== "string" || !isObject(input)) {
    throw invalid(`${at}: a tool_use must have an id, a name and an input`);
  }
  const providerData = memory.recall(id)?.providerData;
  const call = { type: "tool-call", callId: id, name: names.forModel(name), arguments: input } as const;
  return providerData ? { ...call, providerData } : call;
}

function userPart(block: SamplingContent, at: string): TextPart | FilePart {
  if (block.type === "text" && typeof block.text === "string") return { type: "text", text: block.text };
  if (block.type === "image" || block.type === "audio") return file(block.mimeType, block.data, at);
  throw invalid(`${at}: content of the type ${JSON.stringify(block.type)} is not allowed here`);
}

function toolResult(
  { toolUseId, content, structuredContent, isError }: ToolResultContent,
  { at, called }: { at: string; called: ReadonlyMap<string, string> },
): ToolResultPart {
  const name = called.get(toolUseId);
  if (name === undefined) throw invalid(`${at}: the result ${JSON.stringify(toolUseId)} has no tool use before it`);
  const parts = readContent(content).map((block) => resultPart(block, at));
  if (parts.length === 0 && structuredContent !== undefined) {
    parts.push({ type: "text", text: JSON.stringify(withoutDeepLevels(structuredContent)) });
  }
  return { type: "tool-result", callId: toolUseId, name, content: parts, isError: isError === true };
}

function resultPart(block: ContentBlock, at: string): TextPart | FilePart {
  if (block.type === "text") return { type: "text", text: block.text };
  if (block.type === "resource_link") return { type: "text", text: block.uri };
  if (block.type !== "resource") return file(block.mimeType, block.data, at);
  const { resource } = block;
  if ("text" in resource) return { type: "text", text: `${resource.uri}\n${resource.text}` };
  return file(resource.mimeType ?? "application/octet-stream", resource.blob, at);
}

function file(mediaType: unknown, data: unknown, at: string): FilePart {
  if (typeof mediaType === "string" && typeof data === "string" && isBase64(data)) {
    return { type: "file", mediaType, data };
  }
  throw invalid(`${at}: an image, audio or blob must have a media type, and data in base64`);
}

function invalid(problem: string): ProtocolError {
  return new ProtocolError(ErrorCode.InvalidParams, `params.${problem}`);
}
