import { ErrorCode, type SamplingMessage } from "mcparley";
import { describe, expect, test } from "vitest";
import type { ModelPart } from "../model/model-request.ts";
import { ProviderMemory, samplingMessages, samplingResult, toolNames } from "./sampling-messages.ts";

const convert = (messages: unknown[]): unknown =>
  samplingMessages(messages as SamplingMessage[], { names: toolNames(undefined), memory: new ProviderMemory() });

const text = { type: "text", text: "hi" } as const;
const image = { type: "image", mimeType: "image/png", data: "aW1n" } as const;
const audio = { type: "audio", mimeType: "audio/wav", data: "d2F2" } as const;
const use = { type: "tool_use", id: "1", name: "add", input: { a: 1 } } as const;

const calls = (content: unknown, more: object = {}): unknown[] => [
  { role: "assistant", content: use },
  { role: "user", content: [{ type: "tool_result", toolUseId: "1", content, ...more }] },
];

describe("messages of a server", () => {
  test("have one block or several, with images and audio as files", () => {
    const files = [
      { type: "file", mediaType: "image/png", data: "aW1n" },
      { type: "file", mediaType: "audio/wav", data: "d2F2" },
    ];
    expect(
      convert([
        { role: "user", content: text },
        { role: "user", content: [text, image, audio] },
        { role: "assistant", content: [image, text] },
      ]),
    ).toEqual([
      { role: "user", content: [text] },
      { role: "user", content: [text, ...files] },
      { role: "assistant", content: [files[0], text] },
    ]);
  });

  test("have tool results with every kind of content", () => {
    const content = [
      text,
      image,
      { type: "resource", resource: { uri: "file:///a", text: "body" } },
      { type: "resource", resource: { uri: "file:///b", blob: "aW1n", mimeType: "image/png" } },
      { type: "resource", resource: { uri: "file:///c", blob: "aW1n" } },
      { type: "resource_link", uri: "file:///d", name: "d" },
    ];
    expect(convert(calls(content, { isError: true }))).toEqual([
      { role: "assistant", content: [{ type: "tool-call", callId: "1", name: "add", arguments: { a: 1 } }] },
      {
        role: "tool",
        content: [
          {
            type: "tool-result",
            callId: "1",
            name: "add",
            content: [
              text,
              { type: "file", mediaType: "image/png", data: "aW1n" },
              { type: "text", text: "file:///a\nbody" },
              { type: "file", mediaType: "image/png", data: "aW1n" },
              { type: "file", mediaType: "application/octet-stream", data: "aW1n" },
              { type: "text", text: "file:///d" },
            ],
            isError: true,
          },
        ],
      },
    ]);
    expect(convert(calls([], { structuredContent: { sum: 3 } }))).toMatchObject([
      {},
      { content: [{ content: [{ type: "text", text: '{"sum":3}' }], isError: false }] },
    ]);
  });

  test("with a result of unknown and broken blocks keep the others", () => {
    const line = (content: string) => ({ type: "text", text: content });
    const contentOf = (messages: unknown[]): unknown => (convert(messages) as { content: unknown }[])[1]?.content;
    expect(contentOf(calls([{ type: "video" }, text, "a text"]))).toMatchObject([
      { content: [line('[content of the unknown type "video"] {"type":"video"}'), text, line("a text")] },
    ]);
    expect(contentOf(calls("a text"))).toMatchObject([{ content: [line("a text")] }]);
  });

  test.each([
    ["an unknown type", [{ role: "user", content: { type: "video" } }], 'content of the type "video"'],
    ["a text without text", [{ role: "user", content: { type: "text" } }], 'content of the type "text"'],
    ["a tool use of the user", [{ role: "user", content: use }], 'content of the type "tool_use"'],
    ["data that is not base64", [{ role: "user", content: { ...image, data: "no base64!" } }], "data in base64"],
    ["an image without a media type", [{ role: "user", content: { ...image, mimeType: 5 } }], "a media type"],
    ["a tool use without an input", [{ role: "assistant", content: { ...use, input: "x" } }], "a tool_use must have"],
    ["a result without a tool use", calls([]).slice(1), 'the result "1" has no tool use'],
    [
      "a tool use whose name is no text",
      [{ role: "assistant", content: { ...use, name: null } }],
      "a tool_use must have",
    ],
  ])("with %s are refused", (_, messages, message) => {
    let error: unknown;
    try {
      convert(messages);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({ code: ErrorCode.InvalidParams, message: expect.stringContaining(message) });
    expect(String(error)).toMatch(/params\.messages\[[01]\]: /);
  });
});

describe("the names of tools", () => {
  const tool = (name: string): { name: string; inputSchema: { type: string } } => ({
    name,
    inputSchema: { type: "object" },
  });

  test("are accepted by providers, unique, and converted back", () => {
    const long = "x".repeat(100);
    const { tools, forModel, forServer } = toolNames(["a.b", "a_b", "a/b", "", long].map(tool));
    const names = tools.map(({ name }) => name);
    expect(names).toEqual(["a_b", "a_b_2", "a_b_3", "tool", "x".repeat(56)]);
    expect(names.map(forServer)).toEqual(["a.b", "a_b", "a/b", "", long]);
    expect(forModel("of.an/earlier message")).toBe("of_an_earlier_message");
    expect(forServer("invented")).toBe("invented");
  });

  test.each([[[5]], [[{ name: "a" }]], [[{ inputSchema: {} }]]])("of %j are refused", (tools) => {
    expect(() => toolNames(tools as never)).toThrow("params.tools[0] must have a name and an inputSchema");
  });
});

describe("the answer of a model", () => {
  const finish = (reason: string, raw?: string): ModelPart =>
    ({ type: "finish", reason, ...(raw && { raw }), usage: { inputTokens: 1, outputTokens: 1 } }) as ModelPart;
  const result = (parts: ModelPart[], stopSequences?: string[]): unknown =>
    samplingResult(parts, { model: "m", names: toolNames([]), ...(stopSequences && { stopSequences }) });

  test("has one block for adjacent texts, and files that MCP knows", () => {
    const file = (mediaType: string): ModelPart => ({ type: "file", mediaType, data: "aW1n" });
    const parts: ModelPart[] = [
      { type: "reasoning", text: "hm", block: 0 },
      { type: "text", text: "a", block: 1 },
      { type: "text", text: "b", block: 2 },
      finish("stop"),
    ];
    expect(result(parts)).toMatchObject({ content: { type: "text", text: "ab" } });
    expect(result([...parts, file("image/png"), file("audio/wav"), file("application/pdf")])).toMatchObject({
      content: [
        { type: "text", text: "ab" },
        { type: "image", mimeType: "image/png", data: "aW1n" },
        { type: "audio", mimeType: "audio/wav", data: "aW1n" },
      ],
    });
    expect(result([finish("stop")])).toMatchObject({ content: { type: "text", text: "" } });
  });

  test.each([
    ["stop", undefined, "endTurn"],
    ["stop", "stop_sequence", "stopSequence"],
    ["length", undefined, "maxTokens"],
    ["content-filter", undefined, "contentFilter"],
    ["other", undefined, undefined],
  ])("with the finish reason %s (%s) has the stop reason %s", (reason, raw, expected) => {
    expect(result([finish(reason, raw)], ["END"])).toHaveProperty("role", "assistant");
    expect((result([finish(reason, raw)], ["END"]) as { stopReason?: string }).stopReason).toBe(expected);
  });

  test("without requested stop sequences has no stop reason for them", () => {
    expect(result([finish("stop", "stop_sequence")])).toMatchObject({ stopReason: "endTurn" });
  });

  test("with an error is not sent", () => {
    const call: ModelPart = { type: "tool-call", callId: "1", name: "add", input: "{}" };
    for (const part of [{ type: "text", text: "half" } as const, call]) {
      expect(() => result([part, finish("error")])).toThrow("stopped because of an error");
    }
  });
});

test("the memory of a provider's data has the last 100 calls", () => {
  const memory = new ProviderMemory();
  for (let call = 0; call < 150; call++) {
    const providerData = { p: { call } };
    memory.remember([{ type: "tool-call", callId: String(call), name: "a", input: "{}", providerData }]);
  }
  expect(memory.recall("49")).toBeUndefined();
  expect(memory.recall("50")).toEqual({ reasoning: [], providerData: { p: { call: 50 } } });
  memory.remember([{ type: "tool-call", callId: "plain", name: "a", input: "{}" }]);
  expect(memory.recall("plain")).toBeUndefined();
});

test("60,000 names that become equal for the model stay different", () => {
  const tools = Array.from({ length: 60_000 }, (_, number) => ({
    name: String.fromCodePoint(0x10000 + number),
    inputSchema: { type: "object" as const },
  }));
  const names = new Set(toolNames(tools).tools.map(({ name }) => name));
  expect(names.size).toBe(60_000);
  expect([...names].every((name) => /^[A-Za-z0-9_-]{1,64}$/.test(name))).toBe(true);
});
