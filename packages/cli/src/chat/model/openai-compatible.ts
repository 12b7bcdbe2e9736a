/** The part of the AI SDK's provider that chats. `scripts/bundle.mjs` bundles it, because the package installs 14 MB. */
export { OpenAICompatibleChatLanguageModel } from "@ai-sdk/openai-compatible";
