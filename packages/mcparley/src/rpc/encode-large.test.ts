import fc from "fast-check";
import { expect, test } from "vitest";
import { LARGE_CHARS, encodeLarge, endOfSlice } from "./encode-large.ts";
import { type JsonObject, success } from "./messages.ts";

const blob = "QUJD".repeat(LARGE_CHARS / 4);

function pieces(result: JsonObject): string[] | undefined {
  return encodeLarge(success(1, result));
}

test("a base64 string is a piece of the text by itself", () => {
  const result = { contents: [{ uri: "file:///a", blob }], ttlMs: 0 };
  const encoded = pieces(result);
  expect(encoded).toContain(blob);
  expect(encoded?.join("")).toBe(JSON.stringify(success(1, result)));
});

test.each([
  [
    "a resource with several contents",
    { contents: [{ uri: "a:b", text: "short" }, { blob }, { blob: `${blob}AAAA` }] },
  ],
  [
    "an image of a tool",
    {
      content: [
        { type: "text", text: "a" },
        { type: "image", data: blob, mimeType: "image/png" },
      ],
    },
  ],
  ["an embedded resource", { content: [{ type: "resource", resource: { uri: "a:b", blob } }] }],
  ["a prompt", { messages: [{ role: "user", content: { type: "text", text: blob } }] }],
  ["a prompt with a resource", { messages: [{ role: "user", content: { type: "resource", resource: { blob } } }] }],
  [
    "structured content that repeats the text",
    { content: [{ type: "text", text: blob }], structuredContent: { blob } },
  ],
  ["text with escapes", { contents: [{ uri: "a:b", text: `${blob}"\\\n\u2028😀` }] }],
])("large strings are encoded like JSON.stringify: %s", (_what, result) => {
  expect(pieces(result)?.join("")).toBe(JSON.stringify(success(1, result)));
});

test("any text beside a large string is encoded like JSON.stringify", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.jsonValue(), (text, value) => {
      const result = { contents: [{ uri: text, text: text + blob }, { blob }], _meta: { "a/b": value } };
      expect(pieces(result)?.join("")).toBe(JSON.stringify(success(1, result)));
    }),
    { numRuns: 10 },
  );
});

test("half of a surrogate pair in or beside a large string becomes U+FFFD", () => {
  const result = { contents: [{ uri: "a:\ud83d", text: `${blob}\ud83d`, "\udc00": 1 }, { blob }] };
  const { contents } = JSON.parse(pieces(result)?.join("") ?? "").result;
  expect(contents).toEqual([{ uri: "a:\ufffd", text: `${blob}\ufffd`, "\ufffd": 1 }, { blob }]);
});

test("a string one character below the size is not large", () => {
  expect(pieces({ contents: [{ blob: blob.slice(1) }] })).toBeUndefined();
  expect(pieces({ contents: [{ blob }] })).toBeDefined();
});

test("other messages and results that are not JSON are left to the usual encoder", () => {
  const cycle: JsonObject = { text: "a" };
  cycle.content = cycle;
  expect(encodeLarge({ jsonrpc: "2.0", id: 1, method: "ping" })).toBeUndefined();
  expect(pieces({ tools: [] })).toBeUndefined();
  expect(pieces({ contents: [{ blob }], size: 1n })).toBeUndefined();
  expect(pieces({ messages: [cycle] })).toBeUndefined();
});

test("a slice does not end between the halves of a surrogate pair", () => {
  const text = "ab😀c";
  expect([2, 3, 4].map((length) => text.slice(0, endOfSlice(text, length)))).toEqual(["ab", "ab", "ab😀"]);
});
