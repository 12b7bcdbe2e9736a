import { isUtf8 } from "node:buffer";

/** Why a line was not delivered. */
export interface DroppedLine {
  reason: "too_large" | "not_utf8";
  /** The size of the whole line. */
  bytes: number;
  /** The beginning of the line. */
  head: string;
}

export interface LineSink {
  /** Called for each line, without its ending. Empty lines are left out. */
  line(text: string): void;
  /** Called once for each line that is left out, when its end is reached. */
  dropped(line: DroppedLine): void;
  /** Called for what stood after the last line ending when the input ended. */
  unfinished(text: string): void;
}

export interface LineReader {
  push(this: void, chunk: Uint8Array): void;
  end(this: void): void;
}

const LF = 10;
const CR = 13;
const HEAD_BYTES = 256;
/** Up to this size, the space for a line that came in pieces is kept for the next one. */
const KEPT_BYTES = 65_536;

/**
 * Cuts a stream of bytes into lines of UTF-8, each of at most `limit` bytes.
 *
 * It takes linear time and space however the bytes are cut: only the new bytes of a chunk are searched, and a line in
 * pieces is gathered in one buffer that doubles, so that neither a long line nor many tiny chunks cost more than their
 * bytes. Of a line over the limit only the beginning is kept.
 */
export function lineReader(limit: number, sink: LineSink): LineReader {
  const gathered = gather(limit);

  function push(chunk: Uint8Array): void {
    const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let start = 0;
    for (let end = bytes.indexOf(LF); end !== -1; end = bytes.indexOf(LF, start)) {
      // A line that is whole is read where it is: a view of it would take longer to make than the text.
      if (gathered.size() === 0) deliver(bytes, start, end);
      else finish(bytes.subarray(start, end));
      start = end + 1;
    }
    if (start < bytes.length) gathered.add(bytes.subarray(start));
  }

  function finish(rest: Buffer): void {
    gathered.add(rest);
    deliver(gathered.bytes(), 0, gathered.size());
    gathered.clear();
  }

  /** Delivers a line; of one that is too large, only the beginning may be there. */
  function deliver(bytes: Buffer, start: number, end: number): void {
    const stop = end > start && bytes[end - 1] === CR ? end - 1 : end;
    const length = stop - start;
    if (length === 0) return;
    if (length > limit) {
      sink.dropped({ reason: "too_large", bytes: end - start, head: headOf(bytes, start, end) });
      return;
    }
    const text = bytes.toString("utf8", start, stop);
    // Only text with a replacement character can come from bytes that are not UTF-8; the check is for that rare case.
    if (text.includes("\uFFFD") && !isUtf8(bytes.subarray(start, stop))) {
      sink.dropped({ reason: "not_utf8", bytes: length, head: headOf(bytes, start, end) });
    } else sink.line(text);
  }

  function end(): void {
    const size = gathered.size();
    if (size > limit) sink.dropped({ reason: "too_large", bytes: size, head: headOf(gathered.bytes(), 0, size) });
    else if (size > 0) sink.unfinished(gathered.bytes().toString("utf8", 0, size));
    gathered.clear();
  }

  return { push, end };
}

interface Gathered {
  add(bytes: Buffer): void;
  /** The bytes of the line so far; only its beginning once it is too large. */
  bytes(): Buffer;
  /** How many bytes the line has so far, kept or not. */
  size(): number;
  clear(): void;
}

function gather(limit: number): Gathered {
  let space: Buffer = Buffer.alloc(0);
  let size = 0;

  function add(bytes: Buffer): void {
    const total = size + bytes.length;
    // One byte more than the limit may be the CR of the line ending.
    const isKept = total <= limit + 1;
    if (isKept) reserve(total);
    else shrink();
    bytes.copy(space, Math.min(size, space.length));
    size = total;
  }

  function reserve(total: number): void {
    if (total <= space.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(total, Math.min(space.length * 2, limit + 1), 1024));
    space.copy(larger, 0, 0, size);
    space = larger;
  }

  function shrink(): void {
    if (size > limit + 1) return;
    const head = Buffer.alloc(HEAD_BYTES);
    space.copy(head, 0, 0, Math.min(size, HEAD_BYTES));
    space = head;
  }

  function clear(): void {
    size = 0;
    if (space.length > KEPT_BYTES) space = Buffer.alloc(0);
  }

  return { add, bytes: () => space.subarray(0, Math.min(size, space.length)), size: () => size, clear };
}

function headOf(bytes: Buffer, start: number, end: number): string {
  return bytes.toString("utf8", start, Math.min(end, bytes.length, start + HEAD_BYTES));
}
