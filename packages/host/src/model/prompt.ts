import type { JsonObject } from "mcparley";
import type { AssistantPart, FilePart, Message, TextPart, ToolResultPart } from "../conversation/messages.ts";
import type {
  CallOptions,
  CallOptionsV3,
  CallOptionsV4,
  PromptFile,
  PromptMessage,
  PromptText,
  PromptToolCall,
  PromptToolResult,
  PromptReasoning,
  ProviderOptions,
} from "./language-model.ts";
import { isObject } from "@mcparley/internal/is-object";
import { wellFormed } from "../values/map-texts.ts";
import type { ModelRequest } from "./model-request.ts";

/** Returns the options of a call for a `LanguageModelV3`. */
export function optionsV3(request: ModelRequest): CallOptionsV3 {
  return callOptions(request, (base64) => base64);
}

/** Returns the options of a call for a `LanguageModelV4`. */
export function optionsV4(request: ModelRequest): CallOptionsV4 {
  return callOptions(request, (base64) => ({ type: "data", data: base64 }));
}

/** Returns the content of a file. The versions of the specification differ in its form. */
type DataOf<Data> = (base64: string) => Data;

function callOptions<D>(request: ModelRequest, dataOf: DataOf<D>): CallOptions<D> {
  const { toolChoice, maxOutputTokens, temperature, signal } = request;
  const { messages, tools, stopSequences } = wellFormed({
    messages: request.messages,
    tools: request.tools ?? [],
    stopSequences: request.stopSequences,
  });
  return {
    prompt: joinUserMessages(messages.map((message) => promptMessage(message, dataOf))),
    ...(tools.length > 0 && {
      // The specification of MCP requires `type: "object"`. Providers reject a schema without it.
      tools: tools.map(({ name, description, inputSchema }) => ({
        type: "function" as const,
        name,
        description,
        inputSchema: { ...inputSchema, type: "object" as const },
      })),
    }),
    ...(tools.length > 0 && toolChoice && { toolChoice: { type: toolChoice } }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(stopSequences !== undefined && { stopSequences: [...stopSequences] }),
    ...(signal && { abortSignal: signal }),
  };
}

/**
 * Returns a prompt without two messages of the user in a row, which the templates of many open models refuse. They are in a conversation
 * after an attachment, after the files of results, and after a message that the model did not answer.
 */
function joinUserMessages<D>(prompt: readonly PromptMessage<D>[]): PromptMessage<D>[] {
  const messages: PromptMessage<D>[] = [];
  for (const message of prompt) {
    const last = messages.at(-1);
    if (last?.role === "user" && message.role === "user") {
      messages.splice(-1, 1, { ...message, content: [...last.content, ...message.content] });
    } else messages.push(message);
  }
  return messages;
}

function promptMessage<D>(message: Message, dataOf: DataOf<D>): PromptMessage<D> {
  if (message.role === "system") return { role: "system", content: message.content };
  if (message.role === "tool") {
    return { role: "tool", content: message.content.map(toolResult) };
  }
  if (message.role === "assistant") {
    return { role: "assistant", content: message.content.map((part) => assistantPart(part, dataOf)) };
  }
  const content =
    typeof message.content === "string" ? [{ type: "text" as const, text: message.content }] : message.content;
  return { role: "user", content: content.map((part) => (part.type === "file" ? filePart(part, dataOf) : text(part))) };
}

function assistantPart<D>(
  part: AssistantPart,
  dataOf: DataOf<D>,
): PromptText | PromptFile<D> | PromptReasoning | PromptToolCall {
  if (part.type === "text") return text(part);
  if (part.type === "file") return filePart(part, dataOf);
  if (part.type === "reasoning") {
    return { type: "reasoning", text: part.text, ...providerOptions(part.providerData) };
  }
  const { callId, name, arguments: input, providerData } = part;
  return { type: "tool-call", toolCallId: callId, toolName: name, input, ...providerOptions(providerData) };
}

/** Returns a result, which has no files: `RequestFiles` has moved them into a message of the user. */
function toolResult({ callId, name, content, isError }: ToolResultPart): PromptToolResult {
  const value = content.flatMap((part) => (part.type === "text" ? part.text : [])).join("\n");
  const output = isError
    ? // Some providers reject an error without a text.
      { type: "error-text" as const, value: value || "The tool failed without a message." }
    : { type: "text" as const, value };
  return { type: "tool-result", toolCallId: callId, toolName: name, output };
}

function text(part: TextPart): PromptText {
  return { type: "text", text: part.text, ...providerOptions(part.providerData) };
}

function filePart<D>({ mediaType, data, filename, providerData }: FilePart, dataOf: DataOf<D>): PromptFile<D> {
  return {
    type: "file",
    mediaType,
    data: dataOf(data),
    ...(filename !== undefined && { filename }),
    ...providerOptions(providerData),
  };
}

/** Returns the data of a provider in the form in which it is sent back. */
function providerOptions(data: JsonObject | undefined): { providerOptions?: ProviderOptions } {
  if (!data) return {};
  const entries = Object.entries(data).filter(([, value]) => isObject(value));
  // `providerMetadata` is JSON by the specification.
  return { providerOptions: Object.fromEntries(entries) as ProviderOptions };
}
