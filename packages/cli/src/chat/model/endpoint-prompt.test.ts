import { expect, test } from "vitest";
import { type Prompt, endpointPrompt } from "./endpoint-files.ts";

const image = { type: "image-data", mediaType: "image/png", data: "AAAA" } as const;
const result = (toolCallId: string, value: unknown): Prompt[number] =>
  ({
    role: "tool",
    content: [{ type: "tool-result", toolCallId, toolName: "shots__take", output: { type: "content", value } }],
  }) as Prompt[number];
const question: Prompt = [{ role: "user", content: [{ type: "text", text: "Look" }] }];
const all = (): boolean => true;

test("moves the files of results behind them, into a message that names their tools", () => {
  const prompt: Prompt = [
    ...question,
    {
      role: "tool",
      content: [
        {
          type: "tool-result",
          toolCallId: "1",
          toolName: "shots__take",
          output: { type: "content", value: [{ type: "text", text: "Taken." }, image] },
        },
        { type: "tool-result", toolCallId: "2", toolName: "notes__find", output: { type: "text", value: "Found." } },
        {
          type: "tool-result",
          toolCallId: "3",
          toolName: "docs__read",
          output: {
            type: "content",
            value: [{ type: "file-data", mediaType: "application/pdf", data: "BBBBBBBB", filename: "a.pdf" }],
          },
        },
      ],
    },
    { role: "assistant", content: [{ type: "text", text: "I see." }] },
  ];
  expect(endpointPrompt(prompt, all)).toEqual([
    ...question,
    {
      role: "tool",
      content: [
        {
          type: "tool-result",
          toolCallId: "1",
          toolName: "shots__take",
          output: { type: "text", value: "Taken.\n[file 1: image/png, 3 bytes, in the next message]" },
        },
        { type: "tool-result", toolCallId: "2", toolName: "notes__find", output: { type: "text", value: "Found." } },
        {
          type: "tool-result",
          toolCallId: "3",
          toolName: "docs__read",
          output: { type: "text", value: "[file 2: application/pdf, 6 bytes, in the next message]" },
        },
      ],
    },
    {
      role: "user",
      content: [
        { type: "text", text: "The files of the results above. They are from tools, and not from the user." },
        { type: "text", text: "File 1, from the tool shots__take:" },
        { type: "file", mediaType: "image/png", data: "AAAA" },
        { type: "text", text: "File 2, from the tool docs__read:" },
        { type: "file", mediaType: "application/pdf", data: "BBBBBBBB", filename: "a.pdf" },
      ],
    },
    { role: "assistant", content: [{ type: "text", text: "I see." }] },
  ]);
});

test("leaves a prompt without files as it is", () => {
  const prompt: Prompt = [
    { role: "system", content: "Be brief." },
    ...question,
    {
      role: "tool",
      content: [{ type: "tool-result", toolCallId: "1", toolName: "x", output: { type: "error-text", value: "No." } }],
    },
  ];
  expect(endpointPrompt(prompt, all)).toEqual(prompt);
});

test.each(["image/svg+xml", "image/tiff", "audio/ogg", "application/zip", "video/mp4"])(
  "replaces a file of the type %s by its type and size",
  (mediaType) => {
    const line = `[${mediaType}, 3 bytes: the model cannot read this file]`;
    const file = { type: "file", mediaType, data: "AAAA" } as const;
    expect(endpointPrompt([{ role: "user", content: [file] }], all)).toEqual([
      { role: "user", content: [{ type: "text", text: line }] },
    ]);
    expect(endpointPrompt([result("1", [{ ...image, mediaType }])], all)).toMatchObject([
      { content: [{ output: { type: "text", value: line } }] },
    ]);
  },
);

test("replaces a file that is not accepted, in results and in messages of the user", () => {
  const line = "[image/png, 3 bytes: the model cannot read this file]";
  const prompt: Prompt = [
    {
      role: "user",
      content: [
        { type: "text", text: "Look" },
        { type: "file", mediaType: "image/png", data: "AAAA" },
      ],
    },
    result("1", [{ type: "text", text: "Taken." }, image]),
  ];
  expect(endpointPrompt(prompt, () => false)).toMatchObject([
    { role: "user", content: [{ type: "text", text: `Look\n\n${line}` }] },
    { role: "tool", content: [{ output: { type: "text", value: `Taken.\n${line}` } }] },
  ]);
});

test("escapes control characters in the type of a file", () => {
  const file = { type: "file", mediaType: "image/\u001b[2J", data: "AAAA" } as const;
  expect(JSON.stringify(endpointPrompt([{ role: "user", content: [file] }], all))).not.toContain("\\u001b");
});

test("sends messages of the user in a row as one, with one text if they have no file", () => {
  const prompt: Prompt = [...question, { role: "user", content: [{ type: "text", text: "And answer" }] }];
  expect(endpointPrompt(prompt, all)).toEqual([
    { role: "user", content: [{ type: "text", text: "Look\n\nAnd answer" }] },
  ]);
});

test("joins a message of the user with the files before it, and leaves the prompt unchanged", () => {
  const prompt: Prompt = [...question, result("1", [image]), ...question];
  const sent = endpointPrompt(prompt, all);
  expect(sent.map(({ role }) => role)).toEqual(["user", "tool", "user"]);
  expect(sent[2]?.content).toContainEqual({ type: "text", text: "Look" });
  expect(prompt).toEqual([...question, result("1", [image]), ...question]);
});
