import type { FilePart, TextPart } from "@mcparley/host";
import { expect, test } from "vitest";
import { ResultLog } from "./result-log.ts";

const from = { server: "notes", name: "read" };
const label = (text: string): TextPart => ({
  type: "text",
  text: `<server-text kind="result" server="notes" name="read" mark="00ff">\n${text}\n</server-text mark="00ff">`,
  from,
});
const image: FilePart = { type: "file", mediaType: "image/png", data: "AQID" };

test("has the complete content of a result, and which of its files the model received", () => {
  const remark = "The text has 9000 bytes, and the part above ends at byte 1024. Read on with read_result.";
  const result = new ResultLog().add(
    { name: "notes__read", content: [label("the start"), { type: "text", text: remark }, image], isError: false },
    {
      status: "result",
      result: {
        content: [
          { type: "text", text: "the start and the rest" },
          { type: "image", data: "AQID", mimeType: "image/png" },
          { type: "resource", resource: { uri: "a://b", blob: "BBBB", mimeType: "application/zip" } },
        ],
        structuredContent: { rows: 2 },
      },
    },
  );
  expect(result).toMatchObject({ number: 1, sentBytes: 1024, remarks: [] });
  expect(result.text).toBe('the start and the rest\n{\n  "rows": 2\n}');
  expect(result.files.map(({ mimeType, isSent }) => [mimeType, isSent])).toEqual([
    ["image/png", true],
    ["application/zip", false],
  ]);
});

test.each([
  ["all of it", '{"b":2,"a":1}', { a: 1, b: 2 }],
  ["its value", "A long text", { result: "A long text" }],
])("does not repeat structured content if a text repeats %s", (_, text, structuredContent) => {
  const content = [{ type: "text" as const, text }];
  const result = new ResultLog().add(
    { name: "add", content: [label(text)], isError: false },
    { status: "result", result: { content, structuredContent } },
  );
  expect(result.text).toBe(text);
});

test("has the reason of a call without a result, and the text of a tool of the host", () => {
  const log = new ResultLog();
  const remark: TextPart = { type: "text", text: "The call failed. The server did not run it." };
  const error = new Error("Down.");
  const failed = log.add(
    { name: "add", content: [remark, label("Down.")], isError: true },
    { status: "failed", message: "Down.", error, mayHaveRun: false },
  );
  expect(failed).toMatchObject({ text: "Down.", remarks: [remark.text], isError: true, files: [] });
  const ofHost = log.add({ name: "draw", content: [label("text"), image], isError: false });
  expect(ofHost).toMatchObject({ number: 2, text: "text", files: [{ data: "AQID", isSent: true }] });
});

test("drops the oldest results at its limit, and does not use their numbers again", () => {
  const log = new ResultLog(10);
  for (const text of ["12345", "67890"]) log.add({ name: "a", content: [label(text)], isError: false });
  expect(log.all.map(({ number }) => number)).toEqual([1, 2]);
  log.add({ name: "a", content: [label("x")], isError: false });
  expect(log.all.map(({ number }) => number)).toEqual([2, 3]);
  // The last result is kept, whatever its size is.
  log.add({ name: "a", content: [label("123456789012")], isError: false });
  expect([log.all.map(({ number }) => number), log.count, log.find(3)]).toEqual([[4], 4, undefined]);
});
