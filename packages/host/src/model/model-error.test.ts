import { expect, test } from "vitest";
import { expectLinearTime } from "../../../../tests/support/linear-time.ts";
import type { LanguageModel } from "./language-model.ts";
import { modelError } from "./model-error.ts";

const model = { provider: "a", modelId: "large" } as LanguageModel;

test("long words that mix letters and digits are redacted", () => {
  const message = "key 0123456789abcdefghij, word abcdefghijklmnopqrstuvwxyz, number 01234567890123456789";
  expect(modelError(model, new Error(message)).message).toBe(
    'The model "a/large" failed: key [redacted], word abcdefghijklmnopqrstuvwxyz, number 01234567890123456789',
  );
});

test("reads a message of one word in linear time", async () => {
  await expectLinearTime({ head: "", unit: "a", tail: "" }, (text) => modelError(model, new Error(text)));
});
