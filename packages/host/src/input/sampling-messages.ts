import {
  type ContentBlock,
  ErrorCode,
  ProtocolError,
  type SamplingContent,
  type ToolResultContent,
  type ToolUseContent,
  type JsonObject,
} from "mcparley";
import { type CreateMessageParams, type CreateMessageResult, readContent } from "mcparley/client";
import { isBase64 } from "@mcparley/internal/base64";
import { isObject } from "@mcparley/internal/is-object";
import { withoutDeepLevels, uniqueNames } from "../values/map-texts.ts";
import type {
  AssistantPart,
  FilePart,
  Message,
  TextPart,
  ToolCallPart,
  ToolResultPart,
  ReasoningPart,
} from "../conversation/messages.ts";
import type { ModelPart, ModelTool } from "../model/model-request.ts";
import { joinPieces, type JoinedPart } from "../model/stream-parts.ts";

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
  const namesById = new Map<string, string>();
  return messages.map(({ role, content }, index): Message => {
    const blocks = Array.isArray(content) ? content : [content];
    const path = `messages[${index}]`;
    if (role === "assistant") {
      for (const block of blocks) {
        if (block.type === "tool_use" && typeof block.name === "string")
          namesById.set(block.id, names.forModel(block.name));
      }
      return { role, content: assistantParts(blocks, { path, names, memory }) };
    }
    const results = blocks.filter((block) => block.type === "tool_result");
    if (results.length === 0) return { role, content: blocks.map((block) => userPart(block, path)) };
    return { role: "tool", content: results.map((result) => toolResult(result, { path, namesById })) };
  });
}

interface Known {
  /** The position of the message in the params, for errors. */
  readonly path: string;
  readonly names: ToolNames;
  readonly memory: ProviderMemory;
}

function assistantParts(blocks: readonly SamplingContent[], context: Known): AssistantPart[] {
  const firstCall = blocks.findIndex(({ type }) => type === "tool_use");
  const parts: AssistantPart[] = [];
  for (const [index, block] of blocks.entries()) {
    if (block.type !== "tool_use") {
      parts.push(userPart(block, context.path));
      continue;
    }
    const reasoning = context.memory.recall(block.id)?.reasoning ?? [];
    // Some providers require that a message begins with its reasoning. It was before the text that precedes the first call.
    if (index === firstCall) parts.unshift(...reasoning);
    else parts.push(...reasoning);
    parts.push(toolCall(block, context));
  }
  return parts;
}

function toolCall({ id, name, input }: ToolUseContent, { path, names, memory }: Known): ToolCallPart {
  if (typeof id !== "string" || typeof name !== "string" || !isObject(input)) {
    throw invalid(`${path}: a tool_use must have an id, a name and an input`);
  }
  const providerData = memory.recall(id)?.providerData;
  const call = { type: "tool-call", callId: id, name: names.forModel(name), arguments: input } as const;
  return providerData ? { ...call, providerData } : call;
}

function userPart(block: SamplingContent, path: string): TextPart | FilePart {
  if (block.type === "text" && typeof block.text === "string") return { type: "text", text: block.text };
  if (block.type === "image" || block.type === "audio") return file(block.mimeType, block.data, path);
  throw invalid(`${path}: content of the type ${JSON.stringify(block.type)} is not allowed here`);
}

function toolResult(
  { toolUseId, content, structuredContent, isError }: ToolResultContent,
  { path, namesById }: { path: string; namesById: ReadonlyMap<string, string> },
): ToolResultPart {
  const name = namesById.get(toolUseId);
  if (name === undefined) throw invalid(`${path}: the result ${JSON.stringify(toolUseId)} has no tool use before it`);
  const parts = readContent(content).map((block) => resultPart(block, path));
  if (parts.length === 0 && structuredContent !== undefined) {
    parts.push({ type: "text", text: JSON.stringify(withoutDeepLevels(structuredContent)) });
  }
  return { type: "tool-result", callId: toolUseId, name, content: parts, isError: isError === true };
}

function resultPart(block: ContentBlock, path: string): TextPart | FilePart {
  if (block.type === "text") return { type: "text", text: block.text };
  if (block.type === "resource_link") return { type: "text", text: block.uri };
  if (block.type !== "resource") return file(block.mimeType, block.data, path);
  const { resource } = block;
  if ("text" in resource) return { type: "text", text: `${resource.uri}\n${resource.text}` };
  return file(resource.mimeType ?? "application/octet-stream", resource.blob, path);
}

function file(mediaType: unknown, data: unknown, path: string): FilePart {
  if (typeof mediaType === "string" && typeof data === "string" && isBase64(data)) {
    return { type: "file", mediaType, data };
  }
  throw invalid(`${path}: an image, audio or blob must have a media type, and data in base64`);
}

function invalid(problem: string): ProtocolError {
  return new ProtocolError(ErrorCode.InvalidParams, `params.${problem}`);
}

/** Returns the message for the server. Reasoning is left out, because MCP has no content for it. */
export function samplingResult(
  parts: readonly ModelPart[],
  { model, names, stopSequences }: { model: string; names: ToolNames } & Pick<CreateMessageParams, "stopSequences">,
): CreateMessageResult {
  const content = joinTexts(joinPieces(parts).flatMap((part) => contentOf(part, names)));
  const finish = parts.find((part) => part.type === "finish");
  const endReason = stopReasonOf(finish, stopSequences);
  const stopReason = content.some(({ type }) => type === "tool_use") ? "toolUse" : endReason;
  const [first] = content;
  return {
    role: "assistant",
    content: content.length === 1 && first && first.type !== "tool_use" ? first : content.length > 0 ? content : noText,
    model,
    ...(stopReason !== undefined && { stopReason }),
  };
}

const noText: SamplingContent = { type: "text", text: "" };

/** Joins texts that follow each other: before 2025-11-25 an answer has one block. */
function joinTexts(content: readonly SamplingContent[]): SamplingContent[] {
  const blocks: SamplingContent[] = [];
  for (const block of content) {
    const lastBlock = blocks.at(-1);
    if (block.type === "text" && lastBlock?.type === "text")
      blocks.splice(-1, 1, { ...lastBlock, text: lastBlock.text + block.text });
    else blocks.push(block);
  }
  return blocks;
}

function contentOf(part: JoinedPart, names: ToolNames): SamplingContent[] {
  if (part.type === "text") return part.text === "" ? [] : [{ type: "text", text: part.text }];
  if (part.type === "tool-call") {
    const { callId, name, input } = part;
    return [{ type: "tool_use", id: callId, name: names.forServer(name), input: readArguments(name, input) }];
  }
  if (part.type !== "file") return [];
  const { mediaType, data } = part;
  if (mediaType.startsWith("image/")) return [{ type: "image", mimeType: mediaType, data }];
  // MCP has no content for other files in a message of a model.
  return mediaType.startsWith("audio/") ? [{ type: "audio", mimeType: mediaType, data }] : [];
}

function readArguments(name: string, text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text.trim() === "" ? "{}" : text);
  } catch {
    value = undefined;
  }
  if (isObject(value)) return value;
  throw new Error(`The model called the tool "${name}" with arguments that are not a JSON object. Repeat the request.`);
}

function stopReasonOf(
  finish: Extract<ModelPart, { type: "finish" }> | undefined,
  stopSequences: readonly string[] | undefined,
): string | undefined {
  switch (finish?.reason) {
    case "stop":
      // The specification of models has one reason for both. Some providers report the difference in their own words.
      return stopSequences && /stop_?sequence/i.test(finish.raw ?? "") ? "stopSequence" : "endTurn";
    case "length":
      return "maxTokens";
    case "content-filter":
      return "contentFilter";
    case "error":
      throw new Error("The model stopped because of an error.");
    default:
      return undefined;
  }
}

/** The names of the tools of a sampling request, in the form that model providers accept. */
export interface ToolNames {
  readonly tools: readonly ModelTool[];
  /** Returns the name for the model. A name that is not in the request, such as one in an earlier message, is also converted. */
  forModel(this: void, name: string): string;
  /** Returns the name of the server for a name that the model wrote. */
  forServer(this: void, name: string): string;
}

/** Returns the names of the tools that a server offers to the model. Throws a `ProtocolError` for an invalid definition. */
export function toolNames(tools: CreateMessageParams["tools"]): ToolNames {
  const entries: unknown[] = Array.isArray(tools) ? tools : [];
  const toModel = new Map<string, string>();
  const toServer = new Map<string, string>();
  const freeName = uniqueNames();
  const forModel = (name: string): string => {
    const modelName = toModel.get(name);
    if (modelName !== undefined) return modelName;
    const validName = convertedName(name, freeName);
    toModel.set(name, validName);
    toServer.set(validName, name);
    return validName;
  };
  const definitions = entries.map((tool, index): ModelTool => {
    if (!isObject(tool) || typeof tool.name !== "string" || !isObject(tool.inputSchema)) {
      const message = `params.tools[${index}] must have a name and an inputSchema`;
      throw new ProtocolError(ErrorCode.InvalidParams, message);
    }
    const { name, description, inputSchema } = tool;
    return { name: forModel(name), description: typeof description === "string" ? description : "", inputSchema };
  });
  return { tools: definitions, forModel, forServer: (name) => toServer.get(name) ?? name };
}

/** Returns a name of at most 64 letters, digits, `_` and `-`, which all large providers accept. */
function convertedName(name: string, freeName: (name: string, base?: string) => string): string {
  const base = name.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 56) || "tool";
  return freeName(/^[A-Za-z0-9_-]{1,64}$/.test(name) ? name : base, base);
}

/** Maximum number of calls in a `ProviderMemory`. One more displaces the oldest. */
const maxCalls = 100;

/**
 * The reasoning and the provider's data of recent tool calls that a server received, by the id of the call.
 *
 * Some providers require them in the request with the results of the calls. They stay in the host: a server could read or
 * change them otherwise.
 */
export class ProviderMemory {
  readonly #calls = new Map<string, { reasoning: readonly ReasoningPart[]; providerData: JsonObject | undefined }>();

  remember(parts: readonly JoinedPart[]): void {
    let reasoning: ReasoningPart[] = [];
    for (const part of parts) {
      if (part.type === "reasoning") reasoning.push({ ...part, type: part.type });
      if (part.type !== "tool-call") continue;
      const { callId, providerData } = part;
      if (reasoning.length > 0 || providerData) this.#calls.set(callId, { reasoning, providerData });
      // The reasoning belongs before the first call that follows it.
      reasoning = [];
    }
    for (const callId of [...this.#calls.keys()].slice(0, -maxCalls)) this.#calls.delete(callId);
  }

  recall(callId: string): { reasoning: readonly ReasoningPart[]; providerData: JsonObject | undefined } | undefined {
    return this.#calls.get(callId);
  }
}
