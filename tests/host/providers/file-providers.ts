import type { LanguageModel } from "../../../packages/host/src/model/language-model.ts";
import type { FileProvider } from "./file-conversations.ts";

/** Makes a provider of a package, such as `createOpenAI`. Each model is made by a function or by a member of the provider. */
type Create = (settings: object) => ((model: string) => LanguageModel) & {
  readonly chat: (model: string) => LanguageModel;
  readonly responses: (model: string) => LanguageModel;
};

/** Returns the provider of a package by the name of the function that makes it. */
export type LoadProvider = (packageName: string, factory: string) => Promise<Create>;

const chatAnswer = [
  { id: "1", created: 1, model: "m", choices: [{ index: 0, delta: { content: "Hello." }, finish_reason: null }] },
  { id: "1", created: 1, model: "m", choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
  {
    id: "1",
    created: 1,
    model: "m",
    choices: [],
    usage: {
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 15,
      prompt_tokens_details: { cached_tokens: 4 },
      completion_tokens_details: { reasoning_tokens: 2 },
    },
  },
];

const responsesAnswer = [
  { type: "response.created", response: { id: "r", created_at: 1, model: "m" } },
  { type: "response.output_item.added", output_index: 0, item: { type: "message", id: "m1" } },
  { type: "response.output_text.delta", item_id: "m1", delta: "Hello." },
  { type: "response.output_item.done", output_index: 0, item: { type: "message", id: "m1" } },
  {
    type: "response.completed",
    response: {
      incomplete_details: null,
      usage: {
        input_tokens: 10,
        input_tokens_details: { cached_tokens: 4 },
        output_tokens: 5,
        output_tokens_details: { reasoning_tokens: 2 },
      },
    },
  },
];

const anthropicAnswer = [
  {
    type: "message_start",
    message: {
      id: "m",
      type: "message",
      role: "assistant",
      model: "m",
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 3, cache_creation_input_tokens: 3, cache_read_input_tokens: 4, output_tokens: 1 },
    },
  },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hello." } },
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 5 } },
  { type: "message_stop" },
];

const googleAnswer = [
  {
    candidates: [{ content: { role: "model", parts: [{ text: "Hello." }] }, finishReason: "STOP" }],
    usageMetadata: {
      promptTokenCount: 10,
      cachedContentTokenCount: 4,
      candidatesTokenCount: 3,
      thoughtsTokenCount: 2,
      totalTokenCount: 15,
    },
  },
];

const usage = { inputTokens: 10, outputTokens: 5, cacheReadTokens: 4, reasoningTokens: 2 };
const chatFiles = {
  "image/png": "messages.content.image_url.url",
  "image/jpeg": "messages.content.image_url.url",
  "audio/wav": "messages.content.input_audio.data",
  "audio/mpeg": "messages.content.input_audio.data",
  "application/pdf": "messages.content.file.file_data",
};
const inline = "contents.parts.inlineData.data";

/** The packages whose models receive files. The settings name a key, because the packages require one. */
export async function fileProviders(load: LoadProvider): Promise<ReadonlyMap<string, FileProvider>> {
  const apiKey = "none";
  const compatible = await load("@ai-sdk/openai-compatible", "createOpenAICompatible");
  const openai = await load("@ai-sdk/openai", "createOpenAI");
  const anthropic = await load("@ai-sdk/anthropic", "createAnthropic");
  const google = await load("@ai-sdk/google", "createGoogleGenerativeAI");
  return new Map<string, FileProvider>([
    [
      "@ai-sdk/openai-compatible",
      {
        connect: (baseURL) => compatible({ name: "local", baseURL, apiKey, includeUsage: true })("m"),
        answer: chatAnswer,
        usage,
        accepts: chatFiles,
      },
    ],
    [
      "@ai-sdk/openai, chat completions",
      { connect: (baseURL) => openai({ baseURL, apiKey }).chat("m"), answer: chatAnswer, usage, accepts: chatFiles },
    ],
    [
      "@ai-sdk/openai, responses",
      {
        connect: (baseURL) => openai({ baseURL, apiKey }).responses("m"),
        answer: responsesAnswer,
        usage,
        accepts: {
          "image/png": "input.content.image_url",
          "image/jpeg": "input.content.image_url",
          "application/pdf": "input.content.file_data",
        },
      },
    ],
    [
      "@ai-sdk/anthropic",
      {
        connect: (baseURL) => anthropic({ baseURL, apiKey })("m"),
        answer: anthropicAnswer,
        usage: { inputTokens: 10, outputTokens: 5, cacheReadTokens: 4, cacheWriteTokens: 3 },
        accepts: {
          "image/png": "messages.content.source.data",
          "image/jpeg": "messages.content.source.data",
          "application/pdf": "messages.content.source.data",
        },
      },
    ],
    [
      "@ai-sdk/google",
      {
        connect: (baseURL) => google({ baseURL, apiKey })("gemini-m"),
        answer: googleAnswer,
        usage,
        accepts: {
          "image/png": inline,
          "image/jpeg": inline,
          "audio/wav": inline,
          "audio/mpeg": inline,
          "application/pdf": inline,
        },
      },
    ],
  ]);
}
