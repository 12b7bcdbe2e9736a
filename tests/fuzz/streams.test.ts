import fc from "fast-check";
import { expect } from "vitest";
import { readEvents } from "../../packages/mcparley/src/http/client/sse.ts";
import { McpError } from "../../packages/mcparley/src/mcp/errors.ts";
import { classify } from "../../packages/mcparley/src/rpc/messages.ts";
import { redact } from "../../packages/mcparley/src/rpc/redact.ts";
import { LineLimit, LineReader, jsonLines } from "../../packages/mcparley/src/stdio/lines.ts";
import { type Chunked, chunkedOf, chunksOf, evenChunks, growingOf, webStream } from "./arbitraries/bytes.ts";
import { anyMessage, jsonValue } from "./arbitraries/messages.ts";
import { holds } from "./holds.ts";
import { expectLinearTime } from "../support/linear-time.ts";
import { onlyOwnErrors } from "./own-errors.ts";

const lineWords = [
  "\n",
  "\r",
  "\r\n",
  '{"jsonrpc":"2.0","id":1,"result":{}}',
  '{"jsonrpc":"2.0","id":',
  "[",
  "]",
  '"',
  "\\",
];
const lineLimit = 120;

interface Received {
  messages: unknown[];
  errors: string[];
  failed: unknown[];
}

function readLines(chunks: Iterable<Uint8Array>, limit = lineLimit): Received {
  const received: Received = { messages: [], errors: [], failed: [] };
  const receiver = {
    message: (value: unknown) => received.messages.push(value),
    malformed: (error: Error) => {
      expect(error).toBeInstanceOf(McpError);
      received.errors.push(error.message);
    },
    failed: (id: unknown) => received.failed.push(id),
    closed: () => {},
  };
  const most = new LineLimit(limit);
  const reader = new LineReader(most, jsonLines(receiver, most));
  for (const chunk of chunks) reader.push(chunk);
  reader.end();
  return received;
}

holds(
  "lines: any bytes, split anywhere, are read as the same values, with only errors of the library",
  chunkedOf(...lineWords),
  (input) => {
    expect(readLines(chunksOf(input))).toEqual(readLines([input.bytes]));
  },
);

holds(
  "lines: read in linear time, however they are split",
  fc.tuple(growingOf(...lineWords), fc.constantFrom(1, 7, 65_536)),
  async ([growing, size]) => {
    await expectLinearTime(growing, (chunks: Uint8Array[]) => readLines(chunks, 1_000_000), {
      prepare: (text) => evenChunks(text, size),
    });
  },
  { runs: 10 },
);

const eventWords = [
  "\n",
  "\r",
  "\r\n",
  "\n\n",
  "data:",
  "data: ",
  "{}",
  ":",
  "id: 1",
  "id:\0",
  "retry: 5",
  "retry: 1e9",
  "event:",
  "\uFEFF",
];
const eventLimit = 64;

async function readStream(chunks: Iterable<Uint8Array>, limit = eventLimit): Promise<object> {
  const events: object[] = [];
  const retries: number[] = [];
  const sink = {
    event: ({ data, event, id }: { data: string; event?: string | undefined; id?: string | undefined }) =>
      events.push({ data, event, id }),
    retry: (ms: number) => retries.push(ms),
  };
  const read = await onlyOwnErrors(() => readEvents(webStream(chunks), limit, sink), McpError);
  for (const ms of retries) expect(ms).toBeGreaterThanOrEqual(0);
  return { events, retries, refused: "error" in read };
}

holds(
  "events: any bytes, split anywhere, are read as the same events, with only errors of the library",
  chunkedOf(...eventWords),
  async (input) => {
    const whole: Chunked = { ...input, cuts: [] };
    // The limit cannot be reached, because the buffered part depends on the chunks.
    expect(await readStream(chunksOf(input), 10_000)).toEqual(await readStream(chunksOf(whole), 10_000));
    await readStream(chunksOf(input));
  },
);

holds(
  "events: read in linear time, however they are split",
  fc.tuple(growingOf(...eventWords), fc.constantFrom(9, 1_000, 65_536)),
  async ([growing, size]) => {
    await expectLinearTime(growing, (chunks: Uint8Array[]) => readStream(chunks, 1_000_000), {
      prepare: (text) => evenChunks(text, size),
    });
  },
  { runs: 10 },
);

holds(
  "JSON-RPC: any value is a message of one kind, or rejected with the reason",
  fc.oneof(anyMessage, jsonValue),
  (value) => {
    const classified = classify(value);
    expect(["request", "notification", "response", "invalid"]).toContain(classified.kind);
    if (classified.kind === "invalid") expect(classified.reason).not.toBe("");
    else expect(classified.message).toBe(value);
  },
);

const secretWords = [
  "token",
  "api_key",
  "=",
  ":",
  " ",
  "bearer ",
  "basic ",
  '"',
  "'",
  "://",
  "@",
  "eyJ",
  ".",
  "sk-",
  "--",
  "-",
  "_",
  "\n",
  "abcdefgh",
];

holds("redaction: runs in linear time", growingOf(...secretWords), (growing) => expectLinearTime(growing, redact), {
  runs: 10,
});
