import { describe, expect, test } from "vitest";
import { expectLinearTime } from "../../../../tests/support/linear-time.ts";
import { ResultStore } from "./server-text.ts";
import { toResultPart } from "./tool-results.ts";

const call = { callId: "c1", name: "notes_read", origin: { server: "notes", name: "read" } };
const maxBytes = 32 * 1024;

function convert(content: unknown, structuredContent?: unknown) {
  const store = new ResultStore();
  const result = { content, ...(structuredContent !== undefined && { structuredContent }) } as never;
  const part = toResultPart(call, { status: "result", result }, { maxBytes, store });
  return { part, store };
}

const tenKilobytes = "QUJD".repeat(2500);
const hundredMegabytes = "QUJD".repeat(25_000_000);

describe("a result of 100 MB", () => {
  test.each<[string, () => unknown, unknown?]>([
    ["in 10,000 texts", () => Array.from({ length: 10_000 }, () => ({ type: "text", text: tenKilobytes }))],
    ["in 10,000 unknown blocks", () => Array.from({ length: 10_000 }, () => ({ type: "video", data: tenKilobytes }))],
    [
      "in 10,000 texts as resources",
      () =>
        Array.from({ length: 10_000 }, (_, index) => ({
          type: "resource",
          resource: { uri: `a:${index}`, mimeType: "text/plain", blob: tenKilobytes },
        })),
    ],
    [
      "in 10,000 images",
      () => Array.from({ length: 10_000 }, () => ({ type: "image", mimeType: "image/png", data: tenKilobytes })),
    ],
    ["in one text", () => [{ type: "text", text: hundredMegabytes }]],
    ["in one image", () => [{ type: "image", mimeType: "image/png", data: hundredMegabytes }]],
    ["in one unknown block", () => [{ type: "video", data: hundredMegabytes }]],
    ["in the structured content", () => [], { data: hundredMegabytes }],
  ])("%s stays within the limits", (_where, content, structuredContent) => {
    const { part, store } = convert(content(), structuredContent);
    const texts = part.content.filter(({ type }) => type === "text");
    const files = part.content.flatMap((one) => (one.type === "file" ? [one.data] : []));
    // A labelled text, and the remark with its handle.
    expect(texts.length).toBeLessThanOrEqual(2);
    expect(Buffer.byteLength(JSON.stringify(texts))).toBeLessThan(2 * maxBytes);
    expect(files.length).toBeLessThanOrEqual(20);
    expect(store.bytes).toBeLessThanOrEqual(16 * 1024 * 1024);
  });
});

test.each<[string, object]>([
  ["texts", { type: "text", text: '{"a":[1]}' }],
  ["unknown blocks", { type: "video", uri: "a:b" }],
  ["broken blocks", { type: "image", mimeType: 5 }],
  ["images", { type: "image", mimeType: "image/png", data: "AAAA" }],
  ["links", { type: "resource_link", uri: "a:b", icons: [null] }],
])("the time for many %s is linear", async (_kind, block) => {
  await expectLinearTime({ head: "", unit: "x", tail: "" }, (content: unknown[]) => convert(content, { a: [2] }), {
    prepare: (text) => text.split("").map(() => ({ ...block })),
    largest: 65_536,
  });
});
