import { describe, expect, test } from "vitest";
import type { Message } from "../conversation/messages.ts";
import { optionsV3, optionsV4 } from "./prompt.ts";

const image = { type: "file", mediaType: "image/png", data: "aW1n" } as const;
const pdf = { type: "file", mediaType: "application/pdf", data: "cGRm", filename: "a.pdf" } as const;
const signature = { anthropic: { signature: "s1" } };

const messages: Message[] = [
  { role: "system", content: "be brief" },
  { role: "user", content: "hi" },
  { role: "user", content: [{ type: "text", text: "look", from: { server: "s", name: "file:///a" } }, image, pdf] },
  {
    role: "assistant",
    content: [
      { type: "reasoning", text: "hm", providerData: signature },
      { type: "text", text: "I look.", providerData: { openai: { itemId: "i" }, other: 5 } },
      { type: "tool-call", callId: "c1", name: "add", arguments: { a: 1 }, providerData: signature },
    ],
  },
  {
    role: "tool",
    content: [
      { type: "tool-result", callId: "c1", name: "add", content: [{ type: "text", text: "2" }], isError: false },
      {
        type: "tool-result",
        callId: "c2",
        name: "see",
        content: [
          { type: "text", text: "x" },
          { type: "text", text: "y" },
        ],
        isError: false,
      },
      { type: "tool-result", callId: "c3", name: "bad", content: [{ type: "text", text: "no" }], isError: true },
    ],
  },
];

describe("the prompt", () => {
  const system = { role: "system", content: "be brief" };
  const assistant = {
    role: "assistant",
    content: [
      { type: "reasoning", text: "hm", providerOptions: signature },
      { type: "text", text: "I look.", providerOptions: { openai: { itemId: "i" } } },
      { type: "tool-call", toolCallId: "c1", toolName: "add", input: { a: 1 }, providerOptions: signature },
    ],
  };
  const result = (toolCallId: string, toolName: string, output: object): object => ({
    type: "tool-result",
    toolCallId,
    toolName,
    output,
  });

  test("has files as base64 text in version 3", () => {
    expect(optionsV3({ messages }).prompt).toEqual([
      system,
      { role: "user", content: [{ type: "text", text: "hi" }, { type: "text", text: "look" }, image, pdf] },
      assistant,
      {
        role: "tool",
        content: [
          result("c1", "add", { type: "text", value: "2" }),
          result("c2", "see", { type: "text", value: "x\ny" }),
          result("c3", "bad", { type: "error-text", value: "no" }),
        ],
      },
    ]);
  });

  test("has files as tagged data in version 4", () => {
    const wrapped = (file: { data: string }): object => ({ ...file, data: { type: "data", data: file.data } });
    expect(optionsV4({ messages }).prompt).toEqual([
      system,
      {
        role: "user",
        content: [{ type: "text", text: "hi" }, { type: "text", text: "look" }, wrapped(image), wrapped(pdf)],
      },
      assistant,
      {
        role: "tool",
        content: [
          result("c1", "add", { type: "text", value: "2" }),
          result("c2", "see", { type: "text", value: "x\ny" }),
          result("c3", "bad", { type: "error-text", value: "no" }),
        ],
      },
    ]);
  });
});

test("options that are not set are left out", () => {
  expect(optionsV4({ messages: [] })).toEqual({ prompt: [] });
  expect(optionsV4({ messages: [], tools: [], toolChoice: "none" })).toEqual({ prompt: [] });
});

test("options that are set are sent, with tools as functions", () => {
  const { signal } = new AbortController();
  const tools = [{ name: "add", description: "Adds.", inputSchema: { properties: {} } }];
  const limits = { maxOutputTokens: 9, temperature: 0, stopSequences: ["END"] };
  expect(optionsV3({ messages: [], tools, toolChoice: "required", ...limits, signal })).toEqual({
    prompt: [],
    tools: [{ type: "function", name: "add", description: "Adds.", inputSchema: { type: "object", properties: {} } }],
    toolChoice: { type: "required" },
    ...limits,
    abortSignal: signal,
  });
});

test("an error without a text has one, because some providers reject an empty error", () => {
  const failed = { type: "tool-result", callId: "c", name: "n", content: [], isError: true } as const;
  const { prompt } = optionsV3({ messages: [{ role: "tool", content: [failed] }] });
  expect(prompt[0]?.content[0]).toMatchObject({
    output: { type: "error-text", value: "The tool failed without a message." },
  });
});

test("messages of the user in a row are one message, and those of other roles are not joined", () => {
  const user = (text: string): Message => ({ role: "user", content: text });
  const assistant: Message = { role: "assistant", content: [{ type: "text", text: "yes" }] };
  const { prompt } = optionsV3({ messages: [user("a"), user("b"), user("c"), assistant, assistant, user("d")] });
  expect(prompt.map(({ role }) => role)).toEqual(["user", "assistant", "assistant", "user"]);
  expect(prompt[0]?.content).toEqual(["a", "b", "c"].map((text) => ({ type: "text", text })));
});
