import type { LanguageModel } from "@mcparley/host";
import { expect, test } from "vitest";
import { recordRequests } from "./sent-request.ts";

const image = Buffer.from("image").toString("base64");
const inputSchema = { type: "object" as const };
const tools = [{ type: "function" as const, name: "find", description: "Finds.", inputSchema }];
const count = (text: string): number => text.length;

function modelOf(version: "v3" | "v4", calls: unknown[]): LanguageModel {
  const about = { provider: "p", modelId: "m" };
  const doStream = async (options: unknown): Promise<{ stream: ReadableStream<unknown> }> => {
    calls.push(options);
    return { stream: new ReadableStream() };
  };
  return version === "v3"
    ? { ...about, specificationVersion: "v3", doStream }
    : { ...about, specificationVersion: "v4", doStream };
}

test("has no request before the first", () => {
  expect(recordRequests(modelOf("v3", []), count).last()).toBeUndefined();
});

test("passes a request on, and returns its parts with estimated tokens and files", async () => {
  const calls: unknown[] = [];
  const { model, last } = recordRequests(modelOf("v3", calls), count);
  expect(model).toMatchObject({ provider: "p", modelId: "m", specificationVersion: "v3" });
  if (model.specificationVersion !== "v3") throw new Error("unexpected version");
  const request: Parameters<typeof model.doStream>[0] = {
    prompt: [
      { role: "system", content: "Be brief." },
      {
        role: "user",
        content: [
          { type: "text", text: "What is this?" },
          { type: "file", mediaType: "image/png", data: image },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "reasoning", text: "Hm." },
          { type: "tool-call", toolCallId: "1", toolName: "find", input: { a: 1 } },
        ],
      },
      {
        role: "tool",
        content: [
          { type: "tool-result", toolCallId: "1", toolName: "find", output: { type: "text", value: "Found." } },
          {
            type: "tool-result",
            toolCallId: "2",
            toolName: "draw",
            output: { type: "error-text", value: "Done." },
          },
        ],
      },
    ],
    tools,
  };
  await model.doStream(request);
  expect(calls).toEqual([request]);
  const files = [{ mediaType: "image/png", bytes: 5 }];
  expect(last()?.parts).toEqual([
    { kind: "system", text: "Be brief.", tokens: 9, files: [] },
    { kind: "user", text: "What is this?", tokens: 13, files: [] },
    { kind: "user", text: "", tokens: 0, files },
    { kind: "assistant", text: "Hm.", tokens: 3, files: [] },
    { kind: "assistant", text: 'find({"a":1})', tokens: 13, files: [] },
    { kind: "tool", text: "find: Found.", tokens: 12, files: [] },
    { kind: "tool", text: "draw: Done.", tokens: 11, files: [] },
  ]);
  const tokens = JSON.stringify({ name: "find", description: "Finds.", inputSchema }).length;
  expect(last()?.tools).toEqual([{ name: "find", tokens }]);
});

test("reads the files of version 4, and returns the last of several requests", async () => {
  const { model, last } = recordRequests(modelOf("v4", []), count);
  if (model.specificationVersion !== "v4") throw new Error("unexpected version");
  await model.doStream({ prompt: [{ role: "system", content: "first" }], tools });
  const data = { type: "data" as const, data: image };
  await model.doStream({ prompt: [{ role: "user", content: [{ type: "file", mediaType: "image/png", data }] }] });
  expect(last()).toEqual({
    parts: [{ kind: "user", text: "", tokens: 0, files: [{ mediaType: "image/png", bytes: 5 }] }],
    tools: [],
  });
});
