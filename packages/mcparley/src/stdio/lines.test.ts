import fc from "fast-check";
import { expectLinearTime } from "mcparley-tests/support/linear-time.ts";
import { expect, test } from "vitest";
import type { JsonRpcMessage } from "../rpc/messages.ts";
import { LineLimit, LineReader, jsonLines } from "./lines.ts";

interface Seen {
  lines: string[];
  dropped: { bytes: number }[];
  unfinished: string[];
}

function read(chunks: Iterable<Uint8Array>, limit = 1_000): Seen {
  const seen: Seen = { lines: [], dropped: [], unfinished: [] };
  const reader = new LineReader(new LineLimit(limit), {
    onLine: (text) => seen.lines.push(text),
    onDropped: (line) => seen.dropped.push(line),
    onUnfinished: (text) => seen.unfinished.push(text),
  });
  for (const chunk of chunks) reader.push(chunk);
  reader.end();
  return seen;
}

function* cut(bytes: Uint8Array, lengths: readonly number[]): Generator<Uint8Array> {
  let start = 0;
  for (const length of lengths) {
    yield bytes.subarray(start, start + length);
    start += length;
  }
  yield bytes.subarray(start);
}

const piece = fc.oneof(
  { weight: 6, arbitrary: fc.string({ unit: "binary", maxLength: 12 }).map((text) => Buffer.from(text)) },
  {
    weight: 4,
    arbitrary: fc
      .constantFrom("\n", "\r\n", "\r", "\n\n", "é", "𝄞", "\uFFFD", "x".repeat(41))
      .map((text) => Buffer.from(text)),
  },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 6 }).map((bytes) => Buffer.from(bytes)) },
);

test("the same bytes are read identically in any chunks", () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), fc.array(fc.nat(9), { maxLength: 200 }), (pieces, lengths) => {
      const bytes = Buffer.concat(pieces);
      expect(read(cut(bytes, lengths), 40)).toEqual(read([bytes], 40));
    }),
    { numRuns: 1_000 },
  );
});

test("every byte belongs to a line, a dropped line or the unfinished rest", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 60 }).map((text) => text.replaceAll(/[\r\n]/g, "-"))), (lines) => {
      const { lines: read_, dropped } = read([Buffer.from(lines.map((line) => `${line}\n`).join(""))], 40);
      const isTooLarge = (line: string): boolean => Buffer.byteLength(line) > 40;
      expect(read_).toEqual(lines.filter((line) => line !== "" && !isTooLarge(line)));
      expect(dropped.map(({ bytes }) => bytes)).toEqual(
        lines.filter(isTooLarge).map((line) => Buffer.byteLength(line)),
      );
    }),
  );
});

test("a character that is split across chunks is decoded", () => {
  const bytes = Buffer.from("aé𝄞z\n");
  expect(read([...bytes].map((byte) => Uint8Array.of(byte))).lines).toEqual(["aé𝄞z"]);
});

test("CRLF ends a line, and empty lines are ignored", () => {
  expect(read([Buffer.from("a\r\n\r\n\n\nb\n")]).lines).toEqual(["a", "b"]);
});

test.each([
  ["\n", "x".repeat(8), ["x".repeat(8)], []],
  ["\r\n", "x".repeat(8), ["x".repeat(8)], []],
  ["\n", "x".repeat(9), [], [9]],
])("a line at the limit is read and one over it is dropped (%j, %s)", (ending, line, lines, dropped) => {
  for (const size of [1, 3, 100]) {
    const bytes = Buffer.from(`${line}${ending}ok\n`);
    const seen = read(cut(bytes, Array<number>(20).fill(size)), 8);
    expect(seen.lines).toEqual([...lines, "ok"]);
    expect(seen.dropped.map(({ bytes }) => bytes)).toEqual(dropped);
  }
});

test("a dropped line is reported once, with its size and its start, and the next line is read", () => {
  const seen = read(cut(Buffer.from(`{"id":1}${"y".repeat(5_000)}\nnext\n`), [3, 900, 900, 900]), 1_000);
  expect(seen.dropped).toEqual([{ reason: "too_large", bytes: 5_008, head: `{"id":1}${"y".repeat(248)}` }]);
  expect(seen.lines).toEqual(["next"]);
});

test("bytes that are not UTF-8 are reported, and a valid replacement character is not", () => {
  const seen = read([Buffer.from([0x61, 0xff, 0x0a]), Buffer.from("\uFFFD\n")]);
  expect(seen.dropped).toEqual([{ reason: "not_utf8", bytes: 2, head: "a\uFFFD" }]);
  expect(seen.lines).toEqual(["\uFFFD"]);
});

test.each([
  ["a line that is not JSON", "Started with --api-key s3cr3t-value\n", "A line is not JSON"],
  ["the end of the input", "Started with --api-key s3cr3t-value", "The input ended inside a line"],
  [
    "a line that is cut off in the error",
    `Authorization: Bearer s3cr3t-value${"x".repeat(200)}\n`,
    "A line is not JSON",
  ],
])("the error of %s contains no secret", (_, text, why) => {
  const errors: Error[] = [];
  const reader = new LineReader(
    new LineLimit(undefined),
    jsonLines({ message: () => {}, malformed: (error) => errors.push(error) }, new LineLimit(undefined)),
  );
  reader.push(Buffer.from(text));
  reader.end();
  expect(errors.map(({ message }) => message)).toEqual([expect.stringContaining(why)]);
  expect(errors[0]?.message).toContain("[redacted]");
  expect(errors[0]?.message).not.toContain("s3cr3t");
});

test("an incomplete line at the end of input is reported", () => {
  expect(read([Buffer.from('{"a":1}\n{"b"')]).unfinished).toEqual(['{"b"']);
});

test.each([65_536, 1_024, 64])("a message of 10 MiB in chunks of %i bytes is read in linear time", async (size) => {
  const largest = 10 * 1_048_576;
  const prepare = (text: string): Uint8Array[] => {
    const bytes = Buffer.from(`${JSON.stringify({ text })}\n`);
    return [...cut(bytes, Array<number>(Math.floor(bytes.length / size)).fill(size))];
  };
  const readOne = (chunks: Uint8Array[]): void => expect(read(chunks, 16_777_216).lines).toHaveLength(1);
  await expectLinearTime({ head: "", unit: "x", tail: "" }, readOne, { prepare, largest });
});

test("the bytes of a line that arrives in several parts are reported, and those of a line in one part are not", () => {
  const arriving: number[] = [];
  const reader = new LineReader(new LineLimit(100), {
    onLine: () => {},
    onDropped: () => {},
    onUnfinished: () => {},
    onPart: (bytes) => arriving.push(bytes),
  });
  for (const text of ["12345\n", "123", "456", "7\n12", "3\n", "x".repeat(150)]) reader.push(Buffer.from(text));
  expect(arriving).toEqual([3, 6, 2, 150]);
});

const defaultLimit = 16_777_216;
const request = (id: number): JsonRpcMessage => ({ jsonrpc: "2.0", id, method: "resources/read" });
const cancelled = (requestId: number): JsonRpcMessage => ({
  jsonrpc: "2.0",
  method: "notifications/cancelled",
  params: { requestId },
});

function reading(limit: LineLimit): { push: (size: number, end?: string) => void; seen: string[] } {
  const seen: string[] = [];
  const reader = new LineReader(limit, {
    onLine: (text) => seen.push(`line of ${text.length}`),
    onDropped: ({ reason }) => seen.push(reason),
    onUnfinished: (text) => seen.push(`unfinished ${text.length}`),
  });
  return { push: (size, end = "") => reader.push(Buffer.from("x".repeat(size) + end)), seen };
}

test("a longer line is read while a request waits for a larger reply, and dropped before and after", () => {
  const limit = new LineLimit(undefined);
  const { push, seen } = reading(limit);
  push(defaultLimit + 1, "\n");
  limit.noteSent(request(1), { maxReply: defaultLimit + 10 });
  push(defaultLimit + 10, "\r\n");
  push(defaultLimit + 11, "\n");
  push(defaultLimit);
  push(10, "\n");
  limit.noteReceived({ jsonrpc: "2.0", id: 1, result: {} });
  push(defaultLimit + 1, "\n");
  push(defaultLimit, "\n");
  expect(seen).toEqual([
    "too_large",
    `line of ${defaultLimit + 10}`,
    "too_large",
    `line of ${defaultLimit + 10}`,
    "too_large",
    `line of ${defaultLimit}`,
  ]);
});

test("the limit of a line that is arriving can change", () => {
  const limit = new LineLimit(undefined);
  const { push, seen } = reading(limit);
  limit.noteSent(request(1), { maxReply: defaultLimit + 10 });
  push(defaultLimit + 5);
  limit.noteSent(cancelled(1), undefined);
  push(5, "\n");
  push(defaultLimit + 2);
  limit.noteSent(request(2), { maxReply: defaultLimit + 20 });
  push(1, "\n");
  push(1, "\n");
  expect(seen).toEqual([`line of ${defaultLimit + 10}`, "too_large", "line of 1"]);
});

test("a limit that the user has configured is not raised", () => {
  const limit = new LineLimit(100);
  const { push, seen } = reading(limit);
  limit.noteSent(request(1), { maxReply: 1_000 });
  push(101, "\n");
  push(100, "\n");
  expect(seen).toEqual(["too_large", "line of 100"]);
});

test.each([
  ["not JSON", Buffer.from("abc\n")],
  ["not UTF-8", Buffer.from([0x22, 0xff, 0x22, 0x0a])],
])("lines that are %s capture no stack, which takes most of their time, and later errors have one", (_, line) => {
  const errors: Error[] = [];
  const receiver = { message: () => {}, malformed: (error: Error) => void errors.push(error) };
  const reader = new LineReader(new LineLimit(undefined), jsonLines(receiver, new LineLimit(undefined)));
  reader.push(Buffer.concat([line, line, Buffer.from("{}\n"), line, line]));
  expect(errors).toHaveLength(4);
  const stacks = errors.flatMap((error) => [error.stack ?? "", (error.cause as Error | undefined)?.stack ?? ""]);
  // The first line after a good one is parsed as all lines are.
  expect(stacks.filter((stack) => stack.includes("\n    at ")).length).toBeLessThanOrEqual(2);
  expect(new Error("x").stack).toContain("\n    at ");
});
