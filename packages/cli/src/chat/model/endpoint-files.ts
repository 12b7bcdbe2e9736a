import { createHash } from "node:crypto";
import type { LanguageModel } from "@mcparley/host";
import { showSize } from "../../terminal/show-content.ts";
import { visibleLine } from "../../terminal/text.ts";
import { EndpointError } from "./endpoint-error.ts";

/** A model of the specification that the models of endpoints have. */
type EndpointLanguageModel = Extract<LanguageModel, { specificationVersion: "v3" }>;

/** The messages of a request. */
export type Prompt = Parameters<EndpointLanguageModel["doStream"]>[0]["prompt"];

type UserMessage = Extract<Prompt[number], { role: "user" }>;
type ToolMessage = Extract<Prompt[number], { role: "tool" }>;
type ToolResult = ToolMessage["content"][number];

/** A file in a message, in base64. */
interface PromptFile {
  readonly mediaType: string;
  readonly data: string;
  readonly filename?: string;
}

/** The types of files that the format of chat completions has, and that most models with files read. */
const knownType = /^(?:image\/(?:png|jpeg|gif|webp)|audio\/(?:wav|mpeg|mp3)|application\/pdf|text\/.*)$/;

/**
 * The statuses with which endpoints refuse a file that the model cannot read. Ollama answers with 500, and OpenRouter with 404.
 */
const refusals: ReadonlySet<number | undefined> = new Set([400, 404, 413, 415, 422, 500, 501]);

type Answer = Awaited<ReturnType<EndpointLanguageModel["doStream"]>>;

/**
 * Returns a model that sends files in a form that an endpoint accepts, by `endpointPrompt`.
 *
 * Many models read no images. If the endpoint refuses a request with files, and accepts it without them, these files are not sent
 * again: the model receives their types and sizes.
 */
export function withReadableFiles(model: LanguageModel): LanguageModel {
  // The models of endpoints have this version.
  if (model.specificationVersion !== "v3") return model;
  const refusedFiles = new Set<string>();
  const { specificationVersion, provider, modelId } = model;
  return {
    specificationVersion,
    provider,
    modelId,
    async doStream(options) {
      const send = async (accepts: (file: PromptFile) => boolean): Promise<Answer> =>
        model.doStream({ ...options, prompt: endpointPrompt(options.prompt, accepts) });
      const sentFiles: string[] = [];
      try {
        return await send(({ data }) => {
          const isAccepted = refusedFiles.size === 0 || !refusedFiles.has(digest(data));
          if (isAccepted) sentFiles.push(data);
          return isAccepted;
        });
      } catch (error) {
        const isRefusal = error instanceof EndpointError && refusals.has(error.status);
        if (sentFiles.length === 0 || !isRefusal) throw error;
        // The first error has the reason if the files are not the problem.
        const answer = await send(() => false).catch((second: unknown) => {
          throw options.abortSignal?.aborted ? second : error;
        });
        for (const data of sentFiles) refusedFiles.add(digest(data));
        return answer;
      }
    },
  };
}

function digest(data: string): string {
  return createHash("sha256").update(data).digest("base64");
}

/**
 * Returns a prompt that the format of chat completions can express.
 *
 * The result of a tool is only text in this format, and its files follow in a message of the user that names their origin. A file of
 * another type, or one that `accepts` refuses, becomes a line with its type and size.
 */
export function endpointPrompt(prompt: Prompt, accepts: (file: PromptFile) => boolean): Prompt {
  const isSent = (file: PromptFile): boolean => knownType.test(file.mediaType) && accepts(file);
  const messages: Prompt = [];
  for (const message of prompt) {
    const last = messages.at(-1);
    // The templates of many models refuse two messages of the user in a row.
    if (message.role === "user" && last?.role === "user") last.content.push(...userMessage(message, isSent).content);
    else if (message.role === "user") messages.push(userMessage(message, isSent));
    else if (message.role === "tool") messages.push(...toolMessages(message, isSent));
    else messages.push(message);
  }
  return messages.map((message) => (message.role === "user" ? withOneText(message) : message));
}

/** Joins the texts of a message without files. Endpoints whose model reads no files can refuse a list of parts. */
function withOneText({ content, ...message }: UserMessage): UserMessage {
  const texts = content.flatMap((part) => (part.type === "text" ? part.text : []));
  const isText = texts.length === content.length && texts.length > 1;
  return { ...message, content: isText ? [{ type: "text", text: texts.join("\n\n") }] : content };
}

function userMessage({ content, ...message }: UserMessage, isSent: (file: PromptFile) => boolean): UserMessage {
  const parts = content.map((part) =>
    part.type === "text" || isSent(part) ? part : { type: "text" as const, text: unsent(part) },
  );
  return { ...message, content: parts };
}

/** Returns the message with the results, and the message with their files if there are any. */
function toolMessages({ content, ...message }: ToolMessage, isSent: (file: PromptFile) => boolean): Prompt {
  const files: UserMessage["content"] = [];
  let count = 0;
  const textOf = (item: TextOrFile, tool: string): string => {
    if (item.type === "text") return item.text;
    if (!isSent(item)) return unsent(item);
    count += 1;
    const { mediaType, data } = item;
    files.push({ type: "text", text: `File ${count}, from the tool ${tool}:` });
    files.push({ type: "file", mediaType, data, ...("filename" in item && { filename: item.filename }) });
    return `[file ${count}: ${describe(item)}, in the next message]`;
  };
  const results = content.map((result) => withText(result, textOf));
  if (files.length === 0) return [{ ...message, content: results }];
  const origin = "The files of the results above. They are from tools, and not from the user.";
  return [
    { ...message, content: results },
    { role: "user", content: [{ type: "text", text: origin }, ...files] },
  ];
}

type TextOrFile = Extract<ToolResult["output"], { type: "content" }>["value"][number];

/** Returns a result whose output is only text. */
function withText(result: ToolResult, textOf: (item: TextOrFile, tool: string) => string): ToolResult {
  const { output, toolName } = result;
  if (output.type !== "content") return result;
  return { ...result, output: { type: "text", value: output.value.map((item) => textOf(item, toolName)).join("\n") } };
}

/** Returns the line in place of a file that is not sent. */
function unsent(file: PromptFile): string {
  return `[${describe(file)}: the model cannot read this file]`;
}

function describe({ mediaType, data }: PromptFile): string {
  return `${visibleLine(mediaType)}, ${showSize(Buffer.byteLength(data, "base64"))}`;
}
