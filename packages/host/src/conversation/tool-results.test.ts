import type { ContentBlock } from "mcparley/client";
import { describe, expect, test } from "vitest";
import type { ToolResultPart } from "./messages.ts";
import { ResultStore } from "./server-text.ts";
import { readResult } from "../loop/read-result.ts";
import { toResultPart } from "./tool-results.ts";
import { textOutcome } from "../loop/testing/run-fixtures.ts";

const call = { callId: "c1", name: "notes_read", origin: { server: "notes", name: "read" } };
const png = "iVBORw0KGgo=";

function convert(
  content: ContentBlock[],
  { structuredContent, maxBytes = 32 * 1024 }: { structuredContent?: unknown; maxBytes?: number } = {},
): ToolResultPart {
  const result = structuredContent === undefined ? { content } : { content, structuredContent };
  const limits = { maxBytes, store: new ResultStore() };
  return toResultPart(call, { status: "result", result }, limits);
}

function textOf({ content }: ToolResultPart): string {
  return content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
}

describe("content", () => {
  test("becomes one labelled text, and files", () => {
    const part = convert([
      { type: "text", text: "Two notes" },
      { type: "resource_link", uri: "note://1", name: "one", mimeType: "text/plain", description: "The first" },
      { type: "resource", resource: { uri: "note://2", mimeType: "text/plain", text: "second" } },
      { type: "image", data: png, mimeType: "image/PNG; x=1" },
    ]);
    expect(part).toMatchObject({ callId: "c1", name: "notes_read", isError: false });
    expect(part.content[0]).toMatchObject({ type: "text", from: { server: "notes", name: "read" } });
    expect(textOf(part)).toContain(
      "Two notes\nLink to resource note://1, name one (text/plain): The first\nResource note://2 (text/plain):\nsecond",
    );
    expect(part.content[1]).toEqual({ type: "file", mediaType: "image/png", data: png });
  });

  test.each([
    [
      "an unknown media type",
      { type: "image", data: png, mimeType: "image/svg+xml" },
      "models cannot read this media type",
    ],
    ["invalid base64", { type: "image", data: "<svg/>", mimeType: "image/png" }, "its data is not base64"],
    ["no data", { type: "audio", data: "", mimeType: "audio/wav" }, "its data is not base64"],
    [
      "too many bytes",
      { type: "image", data: "A".repeat(8 * 1024 * 1024), mimeType: "image/png" },
      "a file may have 5242880 bytes",
    ],
  ] as const)("that is a file with %s becomes a remark", (_name, block, reason) => {
    const part = convert([block]);
    expect(part.content.filter(({ type }) => type === "file")).toEqual([]);
    expect(textOf(part)).toContain(reason);
  });

  test.each([
    ["image/jpg", "image/jpeg"],
    ["audio/x-wav", "audio/wav"],
    ["audio/mp3", "audio/mpeg"],
    ["application/x-pdf", "application/pdf"],
  ])("that is a file of the type %s is one of the type %s", (mimeType, mediaType) => {
    const { content } = convert([{ type: "resource", resource: { uri: "a://b", mimeType, blob: png } }]);
    expect(content).toEqual([{ type: "file", mediaType, data: png }]);
  });

  test.each([
    ["line breaks", "iVBO\nRw0K\r\nGgo="],
    ["no padding", "iVBORw0KGgo"],
    ["the digits of URLs", "iVBORw0K_-8", "iVBORw0K/+8="],
  ])("that is a file in base64 with %s has the data that providers accept", (_name, data, standard = png) => {
    const part = convert([{ type: "image", data, mimeType: "image/png" }]);
    expect(part.content).toEqual([{ type: "file", mediaType: "image/png", data: standard }]);
  });

  test("has at most 20 files", () => {
    const part = convert(
      Array.from({ length: 21 }, () => ({ type: "image" as const, data: png, mimeType: "image/png" })),
    );
    expect(part.content.filter(({ type }) => type === "file")).toHaveLength(20);
    expect(textOf(part)).toContain("a result may have 20 files");
  });

  test("has files of at most 20 MiB in total", () => {
    const data = "A".repeat(6 * 1024 * 1024);
    const part = convert(Array.from({ length: 5 }, () => ({ type: "image" as const, data, mimeType: "image/png" })));
    expect(part.content.filter(({ type }) => type === "file")).toHaveLength(4);
    expect(textOf(part)).toContain("the files of a result may have 20971520 bytes in total");
  });

  test("that is a blob of text is decoded", () => {
    const blob = Buffer.from('{"a":1}').toString("base64");
    expect(
      textOf(convert([{ type: "resource", resource: { uri: "a://b", mimeType: "application/json", blob } }])),
    ).toContain('{"a":1}');
  });

  test("that is missing becomes a remark", () => {
    expect(textOf(convert([]))).toBe("The tool returned no content.");
  });

  const text = (value: string): ContentBlock => ({ type: "text", text: value });
  const image: ContentBlock = { type: "image", data: png, mimeType: "image/png" };
  test.each<[string, ContentBlock[], unknown]>([
    ["the structured content", [text('{ "b": 1, "a": [2] }')], { a: [2], b: 1 }],
    ["one of several texts", [text("A summary"), text('{"a":[2],"b":1}')], { a: [2], b: 1 }],
    ["a text in `result`", [text("A long text")], { result: "A long text" }],
    ["a text in `result` with white space at its ends", [text("A text\r\n")], { result: "A text" }],
    ["a text in `result` that is JSON", [text('{"a":1}')], { result: '{"a":1}' }],
    ["a text in `result`, as JSON", [text('"quoted \\" text"')], { result: 'quoted " text' }],
    ["an object in `result`", [text('{\n  "a": 1\n}')], { result: { a: 1 } }],
    ["a list in `result`", [text('["a", "b"]')], { result: ["a", "b"] }],
    ["a list in `result`, in one text for each item", [text("a"), text("b")], { result: ["a", "b"] }],
    ["a list of objects, in one text for each", [text('{"a": 1}'), text('{"a": 2}')], { result: [{ a: 1 }, { a: 2 }] }],
    ["a list with one item", [text("a")], { result: ["a"] }],
    ["an integer in `result`", [text("5")], { result: 5 }],
    ["a number in `result` of another form", [text("1.50")], { result: 1.5 }],
    ["a number in `result` with an exponent", [text("1e3")], { result: 1000 }],
    ["a boolean in `result`", [text("true")], { result: true }],
    ["a boolean in `result`, in the form of Python", [text("False")], { result: false }],
    ["null in `result`", [text("null")], { result: null }],
    ["null in `result`, in the form of Python", [text("None")], { result: null }],
    ["a text in a member of another name", [text("A long text")], { content: "A long text" }],
    ["a list in a member of another name", [text('[{"a":1}]')], { items: [{ a: 1 }] }],
    [
      "the text of a resource",
      [{ type: "resource", resource: { uri: "a://b", text: "A text" } }],
      { result: "A text" },
    ],
    ["a text over the limit of parsed texts", [text(`"${"x".repeat(1024 * 1024)}"`)], { a: "x".repeat(1024 * 1024) }],
  ])("structured: it is left out if the blocks repeat %s", (_name, content, structuredContent) => {
    const withoutHandle = (part: ToolResultPart): string => textOf(part).replace(/"r_[^"]+"/, "");
    expect(withoutHandle(convert(content, { structuredContent }))).toBe(withoutHandle(convert(content)));
  });

  test.each<[string, ContentBlock[], unknown]>([
    ["there is no text", [], { a: [2] }],
    ["there is no text for an empty list", [], { result: [] }],
    ["no text contains it", [text("2 notes")], { a: [2] }],
    ["a text is only a part of it", [text("2 notes")], { result: "2 notes", more: true }],
    ["a text is another one", [text("2 notes")], { result: "3 notes" }],
    ["the texts are some of the items", [text("a")], { result: ["a", "b"] }],
    ["the texts are the items in another order", [text("b"), text("a")], { result: ["a", "b"] }],
    ["its member names a number", [text("5")], { count: 5 }],
    ["its member names a boolean", [text("true")], { deleted: true }],
    ["a number is another one", [text("5")], { result: 6 }],
    ["an empty text is no number", [text(" ")], { result: 0 }],
    ["a boolean is a text", [text("true")], { result: "True" }],
  ])("structured: it is added if %s", (_name, content, structuredContent) => {
    expect(textOf(convert(content, { structuredContent }))).toContain(JSON.stringify(structuredContent));
  });

  test.each<[string, ContentBlock[], unknown, string]>([
    ["in a member", [image], { shot: png, width: 1 }, '{"shot":"[the data of a file of this result]","width":1}'],
    [
      "in a list",
      [image, text("x")],
      { all: [{ data: png }] },
      '{"all":[{"data":"[the data of a file of this result]"}]}',
    ],
    [
      "of a resource",
      [{ type: "resource", resource: { uri: "a://b", mimeType: "application/pdf", blob: png } }],
      { blob: png, page: 2 },
      '{"blob":"[the data of a file of this result]","page":2}',
    ],
  ])("structured: the data of a file %s is not repeated as text", (_name, content, structuredContent, json) => {
    const shown = textOf(convert(content, { structuredContent }));
    expect(shown).toContain(json);
    expect(shown).not.toContain(png);
  });
});

describe("a long text", () => {
  function long(text: string, maxBytes = 1024) {
    const store = new ResultStore();
    const limits = { maxBytes, store };
    const part = toResultPart(call, textOutcome(text), limits);
    const handle = /"handle": "(r_[^"]+)"/.exec(textOf(part))?.[1] ?? "";
    const read = (args: object) => {
      const { content, isError } = readResult({ handle, ...args }, { store, maxBytes });
      return { isError, text: content.map(({ text }) => text).join("\n") };
    };
    return { part, handle, store, read };
  }

  test("of exactly the limit is whole, and one byte more becomes a handle", () => {
    expect(long("é".repeat(512)).handle).toBe("");
    expect(long(`${"é".repeat(512)}x`).handle).not.toBe("");
  });

  test("is read on to its end without a gap", () => {
    const whole = Array.from({ length: 2000 }, (_, index) => `${index}é€😀`).join("");
    const { part, read } = long(whole);
    const body = (text: string): string => /<server-text[^\n]*\n([\s\S]*)\n<\/server-text/.exec(text)?.[1] ?? "";
    let text = body(textOf(part));
    let offset = Number(/"offset": (\d+)/.exec(textOf(part))?.[1]);
    for (let isEnd = false; !isEnd;) {
      const next = read({ offset, length: 777 });
      expect(next.isError).toBe(false);
      text += body(next.text);
      offset = Number(/Bytes \d+ to (\d+)/.exec(next.text)?.[1]);
      isEnd = next.text.includes("This is the end.");
    }
    expect(text).toBe(whole);
  });

  test("is read from the start of the next character if the offset is within one", () => {
    expect(long("é".repeat(1000)).read({ offset: 1, length: 3 }).text).toMatch(/\né\n<[^]*Bytes 2 to 4 of 2000/);
    expect(long("😀".repeat(1000)).read({ offset: 4, length: 1 }).text).toMatch(/\n😀\n<[^]*Bytes 4 to 8 of 4000/);
  });

  test("is searched for a text", () => {
    const { read } = long(`${"x".repeat(5000)}the needle is here${"y".repeat(5000)}`);
    expect(read({ find: "needle" }).text).toMatch(/5004: x+the needle is herey+\n/);
    expect(read({ find: "needle" }).text).toContain("These are all matches.");
    expect(read({ find: "needle", offset: 5005 }).text).toBe("No match after byte 5005.");
    const many = long("needle ".repeat(1000)).read({ find: "needle" }).text;
    expect(many).toMatch(/Find more with offset \d+\./);
    expect(Buffer.byteLength(many)).toBeLessThan(1024 + 600);
  });

  test("of escaped characters stays within the limit", () => {
    const { part, handle, read } = long("\u{e0041}".repeat(250), 1024);
    expect(handle).not.toBe("");
    expect(Buffer.byteLength(textOf(part))).toBeLessThan(1024 + 600);
    expect(Buffer.byteLength(read({ length: 1024 }).text)).toBeLessThan(1024 + 600);
  });

  test.each([
    [{ handle: "r_unknown" }, "unknown or has expired"],
    [{ handle: 1 }, "`handle` must be a string"],
    [{ offset: -1 }, "`offset` must be"],
    [{ length: 0 }, "`length` must be"],
    [{ find: "" }, "`find` must be"],
    [{ offset: 1e9 }, "The text ends at byte 5000"],
  ])("cannot be read with %o", (args, message) => {
    const read = long("x".repeat(5000)).read(args);
    expect(read.isError).toBe(true);
    expect(read.text).toContain(message);
  });

  test("of 100 MB is cut, and the remark names its size", () => {
    const { part, store } = long("0123456789".repeat(10_000_000));
    expect(textOf(part)).toContain("Only the first 16777216 of 100000000 bytes are kept.");
    expect(textOf(part).length).toBeLessThan(2000);
    expect(store.bytes).toBe(16 * 1024 * 1024);
  });
});

test("structured content of many thousand levels is shortened, and the text beside it stays", () => {
  const structuredContent: unknown = JSON.parse(`${'{"a":'.repeat(20_000)}1${"}".repeat(20_000)}`);
  const part = convert([{ type: "text", text: "the text" }], { structuredContent });
  expect(part.isError).toBe(false);
  expect(textOf(part)).toMatch(/the text\n(?:{"a":){150}"\[more than 150 levels\]"}{150}/);
});

test("after an exception of the host the model knows that the server may have run the call", () => {
  const store = new ResultStore();
  store.keep = () => {
    throw new Error("A defect of the host.");
  };
  const part = toResultPart(call, textOutcome("a text"), { maxBytes: 5, store });
  expect(part.isError).toBe(true);
  expect(textOf(part)).toBe(
    "The host failed to read the result. The server may have run the call. A defect of the host.",
  );
});

describe("structured content that does not match the output schema", () => {
  const limits = { maxBytes: 1000, store: new ResultStore() };
  const mismatch = 'The result of the tool "read" does not match </server-text>.';
  const remark =
    "The server has run the call. Its content was not checked, and its structured content was left out. " +
    'The result of the tool "read" does not match &lt;/server-text>.';
  const convertUnchecked = (content: ContentBlock[]): ToolResultPart =>
    toResultPart(call, { status: "result", result: { content, structuredContent: { m: "wrong" } }, mismatch }, limits);

  test("is left out, and the texts and files stay with a remark", () => {
    const part = convertUnchecked([
      { type: "text", text: "the text" },
      { type: "image", data: png, mimeType: "image/png" },
    ]);
    expect(part.isError).toBe(false);
    expect(textOf(part)).not.toContain("wrong");
    expect(part.content).toMatchObject([
      { type: "text", text: expect.stringContaining("the text") },
      { type: "file" },
      { type: "text", text: remark },
    ]);
  });

  test("stays if the result has nothing else", () => {
    expect(convertUnchecked([]).content).toMatchObject([
      { text: expect.stringContaining("wrong") },
      {
        text: expect.stringMatching(/^The server has run the call. Its structured content was not checked. The result/),
      },
    ]);
  });
});
