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
  return callOptions(request, {
    data: (base64) => base64,
    resultFile: ({ mediaType, data, filename }) =>
      mediaType.startsWith("image/")
        ? { type: "image-data", mediaType, data }
        : { type: "file-data", mediaType, data, ...(filename !== undefined && { filename }) },
  });
}

/** Returns the options of a call for a `LanguageModelV4`. */
export function optionsV4(request: ModelRequest): CallOptionsV4 {
  return callOptions(request, {
    data: (base64) => ({ type: "data", data: base64 }),
    resultFile: ({ mediaType, data, filename }) => ({
      type: "file",
      mediaType,
      data: { type: "data", data },
      ...(filename !== undefined && { filename }),
    }),
  });
}

/** The parts of a prompt that differ between the versions of the specification. */
interface Files<Data, ResultFile> {
  data(this: void, base64: string): Data;
  resultFile(this: void, file: FilePart): ResultFile;
}

function callOptions<D, R>(request: ModelRequest, files: Files<D, R>): CallOptions<D, R> {
  const { toolChoice, maxOutputTokens, temperature, signal } = request;
  const { messages, tools, stopSequences } = wellFormed({
    messages: request.messages,
    tools: request.tools ?? [],
    stopSequences: request.stopSequences,
  });
  return {
    prompt: joinUserMessages(messages.map((message) => promptMessage(message, files))),
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
 * after an attachment, and after a message that the model did not answer.
 */
function joinUserMessages<D, R>(prompt: readonly PromptMessage<D, R>[]): PromptMessage<D, R>[] {
  const messages: PromptMessage<D, R>[] = [];
  for (const message of prompt) {
    const last = messages.at(-1);
    if (last?.role === "user" && message.role === "user") {
      messages.splice(-1, 1, { ...message, content: [...last.content, ...message.content] });
    } else messages.push(message);
  }
  return messages;
}

function promptMessage<D, R>(message: Message, files: Files<D, R>): PromptMessage<D, R> {
  if (message.role === "system") return { role: "system", content: message.content };
  if (message.role === "tool") {
    return { role: "tool", content: message.content.map((result) => toolResult(result, files)) };
  }
  if (message.role === "assistant") {
    return { role: "assistant", content: message.content.map((part) => assistantPart(part, files)) };
  }
  const content =
    typeof message.content === "string" ? [{ type: "text" as const, text: message.content }] : message.content;
  return { role: "user", content: content.map((part) => (part.type === "file" ? filePart(part, files) : text(part))) };
}

function assistantPart<D, R>(
  part: AssistantPart,
  files: Files<D, R>,
): PromptText | PromptFile<D> | PromptReasoning | PromptToolCall {
  if (part.type === "text") return text(part);
  if (part.type === "file") return filePart(part, files);
  if (part.type === "reasoning") {
    return { type: "reasoning", text: part.text, ...providerOptions(part.providerData) };
  }
  const { callId, name, arguments: input, providerData } = part;
  return { type: "tool-call", toolCallId: callId, toolName: name, input, ...providerOptions(providerData) };
}

function toolResult<D, R>({ callId, name, ...result }: ToolResultPart, files: Files<D, R>): PromptToolResult<R> {
  return { type: "tool-result", toolCallId: callId, toolName: name, output: resultOutput(result, files) };
}

function resultOutput<D, R>(
  { content, isError }: Pick<ToolResultPart, "content" | "isError">,
  files: Files<D, R>,
): PromptToolResult<R>["output"] {
  const texts = content.filter((part) => part.type === "text").map((part) => part.text);
  // An error has no form with files. Several providers send the form `content` as JSON text, so plain text has precedence.
  if (isError) return { type: "error-text", value: errorText(texts, content.length - texts.length) };
  if (texts.length === content.length) return { type: "text", value: texts.join("\n") };
  return {
    type: "content",
    value: content.map((part) =>
      part.type === "file" ? files.resultFile(part) : { type: "text" as const, text: part.text },
    ),
  };
}

/** Returns the text of an error. Some providers reject an error without a text. */
function errorText(texts: readonly string[], files: number): string {
  const remark = files === 0 ? [] : [`[Files of the error that were left out: ${files}]`];
  return [...texts, ...remark].join("\n") || "The tool failed without a message.";
}

function text(part: TextPart): PromptText {
  return { type: "text", text: part.text, ...providerOptions(part.providerData) };
}

function filePart<D, R>({ mediaType, data, filename, providerData }: FilePart, files: Files<D, R>): PromptFile<D> {
  return {
    type: "file",
    mediaType,
    data: files.data(data),
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
