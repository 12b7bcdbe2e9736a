import { expect, test } from "vitest";
import { expectLinearTime } from "../../../../tests/support/linear-time.ts";
import type { LanguageModel } from "./language-model.ts";
import { modelError } from "./model-failure.ts";

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

test("of a message over 16,384 characters, no start of a secret at the cut is shown", () => {
  // The address is recognized by the character behind the password, which is not read.
  const messageFor = (chars: number) =>
    modelError(model, new Error(`token="${"a".repeat(chars)}" https://user:${"p".repeat(400)}@a.example`)).message;
  expect(messageFor(10)).toBe('The model "a/large" failed: token=[redacted] https://[redacted]@a.example');
  expect(messageFor(16_200)).toBe('The model "a/large" failed: ');
});

test.each([
  [
    308,
    { location: "https://u:p@llm.example/v1/chat/0123456789abcdefghij?key=abc" },
    'The endpoint has moved to "https://[redacted]@llm.example/v1/chat/[redacted]", and the request was not sent there. Change the address of the model.',
  ],
  [
    302,
    new Headers({ location: "/v2" }),
    'The endpoint has moved to "/v2", and the request was not sent there. Change the address of the model.',
  ],
  [307, {}, "Moved"],
  [400, { location: "/v2" }, "Moved"],
])("names the address of a redirect: %i %j", (statusCode, responseHeaders, reason) => {
  const cause = Object.assign(new Error("Moved"), { statusCode, responseHeaders });
  expect(modelError(model, cause).message).toBe(`The model "a/large" failed (HTTP status ${statusCode}): ${reason}`);
});
