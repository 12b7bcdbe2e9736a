import { expect, test } from "vitest";
import { UsageCounter, readUsage, usageOf } from "./usage.ts";

test.each<[string, unknown, object]>([
  ["nothing", undefined, { inputTokens: 0, outputTokens: 0 }],
  ["no numbers", { inputTokens: { total: "5" }, outputTokens: NaN }, { inputTokens: 0, outputTokens: 0 }],
  ["totals", { inputTokens: { total: 10 }, outputTokens: { total: 5 } }, { inputTokens: 10, outputTokens: 5 }],
  [
    "the parts of versions 3 and 4",
    {
      inputTokens: { total: 10, noCache: 3, cacheRead: 4, cacheWrite: 3 },
      outputTokens: { total: 5, text: 3, reasoning: 2 },
    },
    { inputTokens: 10, outputTokens: 5, cacheReadTokens: 4, cacheWriteTokens: 3, reasoningTokens: 2 },
  ],
  [
    "parts without totals",
    { inputTokens: { noCache: 3, cacheRead: 4, cacheWrite: 1 }, outputTokens: { text: 3, reasoning: 2 } },
    { inputTokens: 8, outputTokens: 5, cacheReadTokens: 4, cacheWriteTokens: 1, reasoningTokens: 2 },
  ],
  [
    "parts that are 0",
    { inputTokens: { total: 1, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 1, reasoning: 0 } },
    { inputTokens: 1, outputTokens: 1 },
  ],
  [
    "the numbers of version 2",
    { inputTokens: 10, outputTokens: 5, totalTokens: 15, reasoningTokens: 2, cachedInputTokens: 4 },
    { inputTokens: 10, outputTokens: 5, cacheReadTokens: 4, reasoningTokens: 2 },
  ],
])("a provider that reports %s", (_name, value, usage) => {
  expect(readUsage(value)).toEqual(usage);
});

test("the usage of several requests is added, in total and by server and model", () => {
  const counter = new UsageCounter();
  expect(counter.total).toEqual({ inputTokens: 0, outputTokens: 0, origins: [] });
  counter.add({ model: "a/large", inputTokens: 10, outputTokens: 5, cacheReadTokens: 4 });
  counter.add({ model: "a/large", inputTokens: 20, outputTokens: 1, cacheReadTokens: 1, cacheWriteTokens: 2 });
  counter.add({ server: "shop", model: "a/large", inputTokens: 3, outputTokens: 2, reasoningTokens: 1 });
  counter.add({ server: "shop", model: "a/small", inputTokens: 1, outputTokens: 1, isEstimated: true });
  expect(counter.total).toEqual({
    inputTokens: 34,
    outputTokens: 9,
    cacheReadTokens: 5,
    cacheWriteTokens: 2,
    reasoningTokens: 1,
    isEstimated: true,
    origins: [
      { model: "a/large", inputTokens: 30, outputTokens: 6, cacheReadTokens: 5, cacheWriteTokens: 2 },
      { server: "shop", model: "a/large", inputTokens: 3, outputTokens: 2, reasoningTokens: 1 },
      { server: "shop", model: "a/small", inputTokens: 1, outputTokens: 1, isEstimated: true },
    ],
  });
});

test.each([
  ["estimated if none is reported", undefined, true],
  ["estimated if zeros are reported", { inputTokens: 0, outputTokens: 0 }, true],
  ["as reported if only the input is reported", { inputTokens: 3, outputTokens: 0 }, false],
  ["as reported if only the output is reported", { inputTokens: 0, outputTokens: 3 }, false],
])("the usage of a request is %s", (_name, reported, isEstimated) => {
  const usage = usageOf(
    { messages: [{ role: "user", content: "words" }] },
    [{ type: "text", text: "12345678" }],
    reported,
  );
  expect(usage.isEstimated === true).toBe(isEstimated);
  if (!isEstimated) expect(usage).toEqual(reported);
  else expect(usage).toMatchObject({ outputTokens: 3, inputTokens: expect.any(Number) as number });
});

test("a file counts as 1,000 tokens in an estimate, whatever its size is", () => {
  const estimate = (data: string): number =>
    usageOf({ messages: [{ role: "user", content: [{ type: "file", mediaType: "image/png", data }] }] }, [], undefined)
      .inputTokens;
  expect(estimate("A".repeat(40_000))).toBe(estimate("AAAA"));
  expect(estimate("AAAA")).toBeGreaterThan(1000);
});
