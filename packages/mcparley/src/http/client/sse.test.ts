import type { EventSourceMessage } from "eventsource-parser";
import fc from "fast-check";
import { expect, test } from "vitest";
import { expectLinearTime } from "mcparley-tests/support/linear-time.ts";
import { readEvents, readMessages } from "./sse.ts";

const bytes = new TextEncoder();

function streamOf(chunks: Iterable<Uint8Array>, onCancel = (): void => {}): ReadableStream<Uint8Array> {
  const iterator = chunks[Symbol.iterator]();
  return new ReadableStream({
    pull(controller) {
      const next = iterator.next();
      if (next.done) controller.close();
      else controller.enqueue(next.value);
    },
    cancel: onCancel,
  });
}

async function read(
  chunks: Iterable<Uint8Array>,
  limit = 1_000_000,
): Promise<{ events: EventSourceMessage[]; retries: number[] }> {
  const events: EventSourceMessage[] = [];
  const retries: number[] = [];
  await readEvents(streamOf(chunks), limit, { event: (event) => events.push(event), retry: (ms) => retries.push(ms) });
  return { events, retries };
}

function cut(all: Uint8Array, lengths: readonly number[]): Uint8Array[] {
  let start = 0;
  const chunks = lengths.map((length) => all.subarray(start, (start += length)));
  return [...chunks, all.subarray(start)];
}

const line = fc.oneof(
  fc.constantFrom("", "", "", ": comment", "retry: 5", "event: message", "data", "data:", "id: 1"),
  fc.string({ unit: "grapheme", maxLength: 9 }).map((text) => `data: ${text.replaceAll(/[\r\n]/g, "")}`),
);
// A carriage return before a line feed would be one line ending, so these two are not mixed.
const endings = fc.constantFrom(["\n"], ["\r"], ["\r\n"], ["\n", "\r\n"]);

test("a stream has the same events in any chunking and with any line endings", async () => {
  const stream = fc.tuple(fc.array(line, { maxLength: 30 }), endings);
  await fc.assert(
    fc.asyncProperty(stream, fc.array(fc.nat(6), { maxLength: 100 }), async ([lines, ends], lengths) => {
      const whole = bytes.encode(lines.map((text, index) => text + ends[index % ends.length]).join(""));
      const expected = await read([bytes.encode(lines.map((text) => `${text}\n`).join(""))]);
      expect(await read(cut(whole, lengths))).toEqual(expected);
    }),
    { numRuns: 500 },
  );
});

test("an unfinished event at the end of the stream is omitted", async () => {
  const { events } = await read([bytes.encode("data: 1\n\ndata: 2\n")]);
  expect(events.map(({ data }) => data)).toEqual(["1"]);
});

test("an event over the limit ends the reading and cancels the stream, in any chunking", async () => {
  for (const size of [7, 1_000, 70_000]) {
    let isCancelled = false;
    const parts = (function* () {
      yield bytes.encode("data: small\n\ndata: ");
      for (;;) yield bytes.encode("x".repeat(size));
    })();
    const events: string[] = [];
    const stream = streamOf(parts, () => (isCancelled = true));
    const reading = readEvents(stream, 100_000, { event: ({ data }) => events.push(data), retry: () => {} });
    await expect(reading).rejects.toMatchObject({
      code: "too_large",
      message: expect.stringContaining("100000 characters"),
    });
    expect(events).toEqual(["small"]);
    expect(isCancelled).toBe(true);
  }
});

test("the error for an event of the standalone stream names its own limit", async () => {
  const reply = new Response(`data: ${"x".repeat(200)}\n\n`);
  const sink = { message: () => {}, malformed: () => {} };
  const position = { lastEventId: undefined, retryMs: undefined };
  await expect(
    readMessages(reply, sink, { limit: 100, position, option: "limits.unaskedEvent" }),
  ).rejects.toMatchObject({
    code: "too_large",
    message: "The server sent an event of more than 100 characters. Raise limits.unaskedEvent.",
  });
});

test("all lines of data of an event count together, and an event just within the limit is read", async () => {
  const within = "data: 0123456789\n".repeat(90);
  expect((await read([bytes.encode(`${within}\n`)], 1_000)).events[0]?.data.length).toBe(90 * 11 - 1);
  const endless = cut(bytes.encode("data: 0123456789\n".repeat(200)), Array<number>(300).fill(10));
  await expect(read(endless, 1_000)).rejects.toMatchObject({ code: "too_large" });
});

test("an event of exactly the limit is read, and one of a character more is refused", async () => {
  const event = (length: number): Uint8Array[] => [bytes.encode(`data: ${"x".repeat(length)}\n\n`)];
  expect((await read(event(1_000), 1_000)).events[0]?.data.length).toBe(1_000);
  await expect(read(event(1_001), 1_000)).rejects.toMatchObject({ code: "too_large" });
});

test("the limit at the time of arrival applies to an event, and comments do not count", async () => {
  let limit = 1_000;
  const sizes: number[] = [];
  const parts = (function* () {
    for (let at = 0; at < 100; at++) yield bytes.encode(`: ${"x".repeat(100)}\n\n`);
    limit = 200_000;
    yield bytes.encode(`data: ${"x".repeat(150_000)}`);
    yield bytes.encode(`${"x".repeat(50_000)}\n\n`);
    limit = 1_000;
    yield bytes.encode(`data: ${"x".repeat(1_000)}\n\n`);
    for (;;) yield bytes.encode(`data: ${"x".repeat(90)}\n`);
  })();
  const reading = readEvents(streamOf(parts), () => limit, {
    event: ({ data }) => sizes.push(data.length),
    retry: () => {},
  });
  await expect(reading).rejects.toMatchObject({ code: "too_large", message: expect.stringContaining("1000") });
  expect(sizes).toEqual([200_000, 1_000]);
});

test("lines after a carriage return are read in linear time", async () => {
  await expectLinearTime({ head: ":\r", unit: ":\n", tail: "" }, (text) => read([bytes.encode(text)]));
});

test("a stream that breaks rejects with its own error", async () => {
  const broken = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(bytes.encode("data: 1\n\n"));
    },
    pull(controller) {
      controller.error(new Error("reset"));
    },
  });
  const events: string[] = [];
  await expect(readEvents(broken, 100, { event: ({ data }) => events.push(data), retry: () => {} })).rejects.toThrow(
    "reset",
  );
  expect(events).toEqual(["1"]);
});
