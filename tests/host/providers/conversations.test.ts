import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { describe, test } from "vitest";
import { providerConversations } from "./conversations.ts";

describe("a model of @ai-sdk/openai-compatible (v3)", () => {
  test.each([...providerConversations])("%s", async (_, converse) => {
    await converse((settings) => createOpenAICompatible({ ...settings, includeUsage: true })("test-model"));
  });
});
