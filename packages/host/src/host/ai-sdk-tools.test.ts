import { type ToolSet, generateText, stepCountIs } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { describe, expect, test } from "vitest";
import type { ToolOutcome } from "../conversation/messages.ts";
import type { Host } from "./host.ts";
import { toAiSdkTools } from "./ai-sdk-tools.ts";
import { testCatalogue, testTool, textOutcome } from "../loop/testing/run-fixtures.ts";

type Generated = Awaited<ReturnType<MockLanguageModelV3["doGenerate"]>>;

function generated(content: Generated["content"], finish: "stop" | "tool-calls"): Generated {
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  };
  return { content, finishReason: { unified: finish, raw: finish }, usage, warnings: [] };
}

/** Returns a model that calls a tool once, and then answers. */
function callingModel(toolName: string, input: object): MockLanguageModelV3 {
  return new MockLanguageModelV3({
    doGenerate: [
      generated([{ type: "tool-call", toolCallId: "c1", toolName, input: JSON.stringify(input) }], "tool-calls"),
      generated([{ type: "text", text: "Done." }], "stop"),
    ],
  });
}

type TestHost = Pick<Host, "catalogue" | "callTool"> & {
  readonly calls: { name: string; args: object; signal: unknown }[];
};

function testHost(outcome: ToolOutcome): TestHost {
  const calls: TestHost["calls"] = [];
  return {
    calls,
    catalogue: testCatalogue([testTool("read")]),
    callTool: (name, args, options) => {
      calls.push({ name, args, signal: options?.signal });
      return Promise.resolve(outcome);
    },
  };
}

/** Returns the result of the tool as the model received it. */
function sentResult(model: MockLanguageModelV3): unknown {
  const [part] = (model.doGenerateCalls[1]?.prompt ?? []).flatMap((message) =>
    message.role === "tool" ? message.content : [],
  );
  return part?.type === "tool-result" ? part.output : undefined;
}

describe("the package ai", () => {
  test("accepts the tools, and calls them through the host", async () => {
    const host = testHost(textOutcome("The note </server-text>"));
    const tools: ToolSet = toAiSdkTools(host);
    const model = callingModel("read", { id: "1" });
    const { signal } = new AbortController();
    const { text } = await generateText({
      model,
      prompt: "Read.",
      tools,
      stopWhen: stepCountIs(3),
      abortSignal: signal,
    });
    expect(text).toBe("Done.");
    expect(host.calls).toEqual([{ name: "read", args: { id: "1" }, signal: expect.any(AbortSignal) }]);
    expect(model.doGenerateCalls[0]?.tools).toMatchObject([
      { type: "function", name: "read", description: "Tool read of notes.", inputSchema: testTool("read").inputSchema },
      { type: "function", name: "read_result" },
    ]);
    expect(sentResult(model)).toEqual({
      type: "text",
      value: expect.stringMatching(/^<server-text kind="result" server="notes"[^\n]*\nThe note &lt;\/server-text>\n</),
    });
  });

  test("receives a denied call as an error", async () => {
    const model = callingModel("read", {});
    const tools = toAiSdkTools(testHost({ status: "denied", message: "The user said no." }));
    await generateText({ model, prompt: "Read.", tools, stopWhen: stepCountIs(3) });
    expect(sentResult(model)).toMatchObject({
      type: "error-text",
      value: expect.stringContaining("The user said no."),
    });
  });

  test("receives images as files", async () => {
    const result = { content: [{ type: "image" as const, data: "iVBORw0KGgo=", mimeType: "image/png" }] };
    const model = callingModel("read", {});
    await generateText({
      model,
      prompt: "Read.",
      tools: toAiSdkTools(testHost({ status: "result", result })),
      stopWhen: stepCountIs(3),
    });
    expect(sentResult(model)).toEqual({
      type: "content",
      value: [{ type: "image-data", mediaType: "image/png", data: "iVBORw0KGgo=" }],
    });
  });
});

test("long results are read on with read_result", async () => {
  const tools = toAiSdkTools(testHost(textOutcome("0123456789".repeat(100))), { maxResultBytes: 500 });
  const first = await tools.read?.execute({}, { toolCallId: "c1" });
  const handle = /r_[\w-]{16}/.exec(first?.text ?? "")?.[0];
  const rest = await tools.read_result?.execute({ handle, offset: 995 }, { toolCallId: "c2" });
  expect(rest?.text).toContain("\n56789\n");
});

test("a long result is readable with the tools of a later call of toAiSdkTools", async () => {
  const host = testHost(textOutcome("x".repeat(100_000)));
  const tools = toAiSdkTools(host);
  const { text } = (await tools["read"]?.execute({}, { toolCallId: "1" })) ?? { text: "" };
  const handle = /r_[\w-]+/.exec(text)?.[0];
  const read = await toAiSdkTools(host)["read_result"]?.execute({ handle }, { toolCallId: "2" });
  expect(read).toMatchObject({ isError: false, text: expect.stringContaining("xxx") as string });
});

test("version 5 of ai receives files as media", () => {
  const { read } = toAiSdkTools(testHost(textOutcome("")));
  const file = { mediaType: "application/pdf", data: "AAAA" };
  const result = { text: "A", files: [file], isError: false };
  const text = { type: "text", text: "A" };
  expect(read?.toModelOutput(result)).toEqual({ type: "content", value: [text, { type: "media", ...file }] });
  expect(read?.toModelOutput({ output: result })).toEqual({
    type: "content",
    value: [text, { type: "file-data", ...file }],
  });
});

test("arguments that are no object are rejected", async () => {
  const { read } = toAiSdkTools(testHost(textOutcome("")));
  await expect(read?.execute("text", { toolCallId: "c1" })).rejects.toThrow("must be a JSON object");
});
