import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { BodyWriter, SLICE, destroyWhenSent } from "./body-writer.ts";
import type { NodeResponse } from "./node-exchange.ts";

/** A response whose client reads only when `read` is called. */
class SlowResponse extends EventEmitter {
  readonly socket = { isDestroyed: false, destroySoon: () => void (this.socket.isDestroyed = true) };
  readonly written: Buffer[] = [];
  readonly encodings: unknown[] = [];
  /** Bytes that were written and not read. */
  writableLength = 0;
  largest = 0;
  flushed = 0;

  write(chunk: string | Uint8Array, encoding?: BufferEncoding): boolean {
    const bytes = typeof chunk === "string" ? Buffer.from(chunk, encoding) : Buffer.from(chunk);
    this.written.push(bytes);
    this.encodings.push(encoding);
    this.writableLength += bytes.length;
    this.largest = Math.max(this.largest, this.writableLength);
    return false;
  }

  flush(): void {
    this.flushed++;
  }

  read(): void {
    this.writableLength = 0;
    this.emit("drain");
  }

  get body(): Buffer {
    return Buffer.concat(this.written);
  }
}

function slowWriter(flushes = false): { response: SlowResponse; writer: BodyWriter } {
  const response = new SlowResponse();
  const writer = new BodyWriter(response as unknown as NodeResponse, { socket: response.socket, flushes });
  return { response, writer };
}

test("a long text is written in slices, each after the client has read the one before", () => {
  const { response, writer } = slowWriter();
  const text = "0123456789".repeat(100_000);
  let isWritten = false;
  writer.write(text);
  writer.whenWritten(() => (isWritten = true));
  expect(response.body).toHaveLength(SLICE);
  for (let reads = 1; reads < 4; reads++) {
    expect(isWritten).toBe(false);
    response.read();
    expect(response.written).toHaveLength(reads + 1);
  }
  expect(isWritten).toBe(true);
  expect(response.largest).toBe(SLICE);
  expect(response.body.toString()).toBe(text);
});

test("a text of one slice is written at once, and one character more waits", () => {
  const { response, writer } = slowWriter();
  writer.write("x".repeat(SLICE));
  expect(response.body).toHaveLength(SLICE);
  const other = slowWriter();
  other.writer.write("x".repeat(SLICE + 1));
  expect(other.response.body).toHaveLength(SLICE);
  other.response.read();
  expect(other.response.body).toHaveLength(SLICE + 1);
});

test.each([0, 1, 2, 3])(
  "characters of several bytes are whole at the end of slices, after %i other characters",
  (shift) => {
    const { response, writer } = slowWriter();
    const text = "x".repeat(shift) + "ä€😀".repeat(SLICE / 2);
    writer.write(text);
    while (response.body.length < Buffer.byteLength(text)) response.read();
    expect(response.body.equals(Buffer.from(text))).toBe(true);
  },
);

test("slices of ASCII are written as latin1, and others as UTF-8", () => {
  const { response, writer } = slowWriter();
  writer.write("x".repeat(SLICE) + "é".repeat(SLICE));
  response.read();
  expect(response.encodings).toEqual(["latin1", "utf8"]);
  expect(response.body.toString()).toBe("x".repeat(SLICE) + "é".repeat(SLICE));
});

test("parts are written in order, also bytes and short parts behind a long one", () => {
  const { response, writer } = slowWriter();
  const bytes = Buffer.alloc(SLICE + 5, "b");
  writer.write("first,");
  writer.write("a".repeat(SLICE + 1));
  writer.write(bytes);
  writer.write(",last");
  while (response.writableLength > 0) response.read();
  expect(response.body.toString()).toBe(`first,${"a".repeat(SLICE + 1)}${bytes.toString()},last`);
});

test("the backlog counts what waits behind the part that is being written", () => {
  const { response, writer } = slowWriter();
  writer.write("a".repeat(10 * SLICE));
  expect(writer.backlog).toBe(SLICE);
  writer.write("b".repeat(7));
  writer.write("c".repeat(9));
  expect(writer.backlog).toBe(SLICE + 16);
  response.read();
  expect(writer.backlog).toBe(SLICE + 16);
});

test("the rest of a body is dropped when the client disconnects", () => {
  const { response, writer } = slowWriter();
  let isOver = false;
  writer.write("a".repeat(3 * SLICE));
  writer.whenWritten(() => (isOver = true));
  response.emit("close");
  expect(isOver).toBe(true);
  response.read();
  expect(response.body).toHaveLength(SLICE);
});

test("middleware whose `write` returns nothing receives the whole body", () => {
  const { response, writer } = slowWriter();
  const write = response.write.bind(response);
  Object.assign(response, { write: (...given: [string, BufferEncoding]) => void write(...given) });
  writer.write("a".repeat(3 * SLICE));
  expect(response.body).toHaveLength(3 * SLICE);
});

test("middleware that compresses a stream is flushed after each slice", () => {
  const { response, writer } = slowWriter(true);
  writer.write("a".repeat(2 * SLICE));
  expect(response.flushed).toBe(1);
  response.read();
  expect(response.flushed).toBe(2);
});

test("a socket is closed after the rest of a body, and at once if nothing waits", () => {
  const { response, writer } = slowWriter();
  writer.write("a".repeat(2 * SLICE));
  destroyWhenSent(response.socket as never);
  expect(response.socket.isDestroyed).toBe(false);
  response.read();
  expect(response.socket.isDestroyed).toBe(true);
  const idle = slowWriter().response;
  destroyWhenSent(idle.socket as never);
  expect(idle.socket.isDestroyed).toBe(true);
});
