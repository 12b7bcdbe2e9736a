import { describe, expect, test } from "vitest";
import { readContent, readPromptMessages, readResourceContents } from "./read-content.ts";

const text = { type: "text", text: "kept" };
const line = (content: string): object => ({ type: "text", text: content });

describe("readContent", () => {
  test.each([
    [{ type: "video", uri: "x" }, '[content of the unknown type "video"] {"type":"video","uri":"x"}'],
    [
      { type: "image", mimeType: "image/png" },
      '[broken content of the type "image"] {"type":"image","mimeType":"image/png"}',
    ],
    [{ type: "text", text: null }, '[broken content of the type "text"] {"type":"text","text":null}'],
    [{ type: "resource" }, '[broken content of the type "resource"] {"type":"resource"}'],
    [{ type: "resource", resource: {} }, '[broken content of the type "resource"] {"type":"resource","resource":{}}'],
    [
      { type: "resource_link", name: "a" },
      '[broken content of the type "resource_link"] {"type":"resource_link","name":"a"}',
    ],
    [{ text: "a" }, '[content without a type] {"text":"a"}'],
    [{ type: 5 }, '[content of the unknown type 5] {"type":5}'],
    [null, "[content that is not an object] null"],
    [7, "[content that is not an object] 7"],
    [["a"], '[content that is not an object] ["a"]'],
    ["a text", "a text"],
    [{ type: "a\ud83d" }, '[content of the unknown type "a\ufffd"] {"type":"a\ufffd"}'],
  ])("%j becomes one line, and the blocks beside it stay", (block, content) => {
    expect(readContent([text, block, text])).toEqual([text, line(content), text]);
  });

  test.each([
    [undefined, []],
    [null, []],
    ["", []],
    ["a text", [line("a text")]],
    [text, [text]],
    [5, [line("[content that is not an object] 5")]],
  ])("%j in place of the list", (content, blocks) => {
    expect(readContent(content)).toEqual(blocks);
  });

  test("valid blocks of every type are returned with all their members", () => {
    const annotations = { audience: ["user"], priority: 1, lastModified: "2026-01-01T00:00:00Z", "x/y": 1 };
    const common = { annotations, _meta: { a: 1 }, extra: true };
    const blocks = [
      { ...text, ...common },
      { type: "image", data: "AAAA", mimeType: "image/png", ...common },
      { type: "audio", data: "AAAA", mimeType: "audio/wav", ...common },
      {
        type: "resource_link",
        uri: "a:b",
        name: "b",
        title: "B",
        description: "c",
        mimeType: "text/plain",
        size: 3,
        icons: [{ src: "data:," }],
        ...common,
      },
      { type: "resource", resource: { uri: "a:b", mimeType: "text/plain", text: "t", _meta: {} }, ...common },
      { type: "resource", resource: { uri: "a:b", blob: "AAAA" }, ...common },
    ];
    expect(readContent(blocks)).toEqual(blocks);
  });

  test("members of a wrong type are left out", () => {
    const wrong = { annotations: "x", _meta: [] };
    expect(
      readContent([
        { ...text, ...wrong },
        { ...text, annotations: { audience: ["user", "x", null], priority: "1", lastModified: 5 } },
        { type: "image", data: "AAAA", mimeType: 5 },
        {
          type: "resource_link",
          uri: "a:b",
          name: null,
          title: 1,
          description: [],
          mimeType: {},
          size: "3",
          icons: [null, { src: 1 }],
        },
        { type: "resource", resource: { uri: null, text: "t", blob: 1, mimeType: 2, _meta: 3 } },
        { type: "resource", resource: { text: null, blob: "AAAA" } },
      ]),
    ).toEqual([
      text,
      { ...text, annotations: { audience: ["user"] } },
      { type: "image", data: "AAAA", mimeType: "application/octet-stream" },
      { type: "resource_link", uri: "a:b", name: "a:b", icons: [] },
      { type: "resource", resource: { uri: "", text: "t" } },
      { type: "resource", resource: { uri: "", blob: "AAAA" } },
    ]);
  });

  test("the JSON of a block of any size and depth is short", () => {
    let deep: unknown = {};
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    const members = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`${index}`.repeat(1000), 1]));
    const block = {
      type: "x".repeat(1e6),
      data: "A".repeat(1e6),
      deep,
      list: Array(1e5).fill("y".repeat(1000)),
      members,
    };
    const [{ text: shown } = { text: "" }] = readContent([block]) as { text: string }[];
    expect(shown.length).toBeLessThan(5000);
    expect(shown).not.toContain("\n");
  });

  test("values that JSON does not have are named", () => {
    const block = { type: "x", toJSON: () => "", big: 1n };
    expect(readContent([block])).toEqual([
      line('[content of the unknown type "x"] {"type":"x","toJSON":"function","big":"bigint"}'),
    ]);
  });
});

describe("readResourceContents", () => {
  test("a broken part becomes a line, and the others stay", () => {
    const part = { uri: "a:b", text: "kept" };
    expect(readResourceContents([part, { uri: "a:c" }, null, "text"])).toEqual([
      part,
      { uri: "a:c", text: '[broken contents of a resource] {"uri":"a:c"}' },
      { uri: "", text: "[broken contents of a resource] null" },
      { uri: "", text: "text" },
    ]);
    expect(readResourceContents(part)).toEqual([part]);
    expect(readResourceContents(undefined)).toEqual([]);
  });
});

describe("readPromptMessages", () => {
  test("broken messages become messages of the user, and the others stay", () => {
    const message = { role: "assistant", content: text };
    const user = (content: object): object => ({ role: "user", content });
    expect(
      readPromptMessages([
        message,
        { role: "system", content: text },
        { role: "assistant", content: [text, { type: "video" }] },
        { role: "assistant", content: "a text" },
        { role: "user" },
        text,
        null,
        "a text",
      ]),
    ).toEqual([
      message,
      user(text),
      message,
      { role: "assistant", content: line('[content of the unknown type "video"] {"type":"video"}') },
      { role: "assistant", content: line("a text") },
      user(line('[content without a type] {"role":"user"}')),
      user(text),
      user(line("[content that is not an object] null")),
      user(line("a text")),
    ]);
    expect(readPromptMessages(null)).toEqual([]);
  });
});

test.each([undefined, null, "", 5])("a link whose name is %j has its URI as the name", (name) => {
  const [link] = readContent([{ type: "resource_link", uri: "note://1", name }]);
  expect(link).toMatchObject({ name: "note://1" });
});
