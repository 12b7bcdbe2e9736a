import { parseArgs } from "node:util";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModel } from "@mcparley/host";

const { values } = parseArgs({ options: { "base-url": { type: "string" } } });
const { BASE_URL, MODEL, API_KEY = "none" } = process.env;
const baseURL = values["base-url"] ?? BASE_URL;

/** The model at an endpoint in the format of OpenAI's chat completions. Undefined if none is configured. */
export const model: LanguageModel | undefined =
  baseURL && MODEL
    ? createOpenAICompatible({ name: "local", baseURL, apiKey: API_KEY, includeUsage: true })(MODEL)
    : undefined;
