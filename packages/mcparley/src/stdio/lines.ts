import { Notification } from "../mcp/methods.ts";
import { CollectedBytes } from "../rpc/collected-bytes.ts";
import { LocalError } from "../rpc/errors.ts";
import { type JsonRpcMessage, type RequestId, isObject, isRequest } from "../rpc/messages.ts";
import { parseJson } from "../rpc/parse-json.ts";
import { redact } from "../rpc/redact.ts";
import type { Envelope, Receiver } from "../rpc/transport.ts";

/** The default limit of a line in bytes: 16 MiB. */
const DEFAULT_MAX_LINE_BYTES = 16_777_216;

/**
 * The maximum size of a line: the configured one, or the default, which is raised while a request expects a larger reply.
 */
export class LineLimit {
  readonly #maxBytes: number | undefined;
  /** The maximum sizes of larger replies, by the ids of their requests. */
  readonly #larger = new Map<unknown, number>();

  constructor(maxBytes: number | undefined) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#maxBytes ?? Math.max(DEFAULT_MAX_LINE_BYTES, ...this.#larger.values());
  }

  /** Called with each sent message. Raises the limit if a larger reply is expected, until it arrives or is cancelled. */
  noteSent(message: JsonRpcMessage | JsonRpcMessage[], envelope: Envelope | undefined): void {
    if (Array.isArray(message)) return;
    if (envelope?.maxReply && isRequest(message)) this.#larger.set(message.id, envelope.maxReply);
    if (this.#larger.size > 0 && "method" in message && message.method === Notification.cancelled) {
      this.#larger.delete(message.params?.requestId);
    }
  }

  /** Called with each received value. Restores the limit after a larger reply. */
  noteReceived(value: unknown): void {
    if (this.#larger.size > 0 && isObject(value) && !("method" in value)) this.#larger.delete(value.id);
  }
}

/** Maximum number of characters of a malformed line in an error. */
const EXCERPT = 100;

/** A line that was dropped, and the reason. */
interface DroppedLine {
  reason: "too_large" | "not_utf8";
  /** The size of the whole line. */
  bytes: number;
  /** The start of the line. */
  head: string;
}

interface LineSink {
  /** Called for each line, without its line ending. Empty lines are ignored. */
  onLine(text: string): void;
  /** Called once for each line that is dropped, at its end. */
  onDropped(line: DroppedLine): void;
  /** Called with the number of bytes of a line of which another part has arrived. */
  onPart?(bytes: number): void;
  /** Called at the end of the input with the text after the last line ending. */
  onUnfinished(text: string): void;
}

const LF = 10;
const CR = 13;
/** Bytes at the start of a dropped line that are kept, to find the id of a response. */
const HEAD_BYTES = 256;

/**
 * Splits a stream of bytes into lines of UTF-8. The limit of a line is the largest one while the line arrives.
 *
 * Time and memory are linear for any size of chunks: only the new bytes of a chunk are searched, and a line in several
 * chunks is collected in memory that grows in place. Only the start of a line over the limit is kept.
 */
export class LineReader {
  readonly #limit: LineLimit;
  readonly #sink: LineSink;
  /** The bytes of the incomplete line, or only its start if it is too large. */
  readonly #memory = new CollectedBytes();
  /** Number of bytes of the incomplete line, including dropped ones. */
  #size = 0;
  /** Whether no byte of the incomplete line was dropped. */
  #isWhole = true;
  /** The largest limit since the incomplete line began. */
  #largestLimit = 0;

  constructor(limit: LineLimit, sink: LineSink) {
    this.#limit = limit;
    this.#sink = sink;
  }

  push(chunk: Uint8Array): void {
    const bytes = Buffer.isBuffer(chunk) ? chunk : asBuffer(chunk);
    let start = 0;
    for (let end = bytes.indexOf(LF); end !== -1; end = bytes.indexOf(LF, start)) {
      // A line within one chunk is decoded in place. Creating a view takes longer than decoding.
      if (this.#size === 0) this.#deliver(bytes, start, end);
      else {
        this.#collect(bytes.subarray(start, end));
        this.#deliver(asBuffer(this.#memory.view), 0, this.#size);
      }
      start = end + 1;
    }
    if (start === bytes.length) return;
    this.#collect(bytes.subarray(start));
    this.#sink.onPart?.(this.#size);
  }

  end(): void {
    const size = this.#size;
    const bytes = asBuffer(this.#memory.view);
    if (this.#isTooLarge(size)) {
      this.#sink.onDropped({ reason: "too_large", bytes: size, head: headOf(bytes, 0, size) });
    } else if (size > 0) this.#sink.onUnfinished(bytes.toString("utf8"));
    this.#clear();
  }

  /** Delivers a line. If the line is too large, the bytes may contain only its start. */
  #deliver(bytes: Buffer, start: number, end: number): void {
    const stop = end > start && bytes[end - 1] === CR ? end - 1 : end;
    const length = stop - start;
    const isTooLarge = this.#isTooLarge(length);
    const text = isTooLarge ? "" : bytes.toString("utf8", start, stop);
    // Invalid UTF-8 is decoded to replacement characters, so only text that contains one is checked.
    const isInvalid = text.includes("\uFFFD") && !isUtf8(bytes.subarray(start, stop));
    const head = isTooLarge || isInvalid ? headOf(bytes, start, end) : "";
    // The bytes of a large line are released before its text is parsed.
    this.#clear();
    if (isTooLarge) this.#sink.onDropped({ reason: "too_large", bytes: end - start, head });
    else if (isInvalid) this.#sink.onDropped({ reason: "not_utf8", bytes: length, head });
    else if (length > 0) this.#sink.onLine(text);
  }

  #isTooLarge(length: number): boolean {
    return !this.#isWhole || length > Math.max(this.#largestLimit, this.#limit.bytes);
  }

  /** Adds bytes to the incomplete line. */
  #collect(bytes: Buffer): void {
    this.#largestLimit = Math.max(this.#largestLimit, this.#limit.bytes);
    const limit = this.#largestLimit;
    this.#size += bytes.length;
    // Over the limit, also if the last byte is the CR of the line ending. From now on only the start is kept.
    if (this.#isWhole && this.#size > limit + 1) {
      this.#isWhole = false;
      this.#memory.keepStart(HEAD_BYTES);
    }
    if (this.#isWhole) this.#memory.add(bytes, limit + 1);
    else this.#memory.add(bytes.subarray(0, HEAD_BYTES - this.#memory.size), HEAD_BYTES);
  }

  #clear(): void {
    if (this.#size === 0) return;
    this.#size = 0;
    this.#largestLimit = 0;
    this.#isWhole = true;
    this.#memory.clear();
  }
}

function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

function headOf(bytes: Buffer, start: number, end: number): string {
  return bytes.toString("utf8", start, Math.min(end, bytes.length, start + HEAD_BYTES));
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    withoutStack(() => new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns the result of a function whose errors have no stack. A peer can send millions of malformed lines, and the stack takes most of
 * the time of an error. It would show only the reader of lines.
 */
function withoutStack<T>(run: () => T): T {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return run();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/**
 * Returns a sink that parses each line as JSON and passes the value to the receiver. A line of blanks is ignored.
 *
 * Nothing is passed on after `isOpen` returns false.
 */
export function jsonLines(
  receiver: Pick<Receiver, "message" | "malformed" | "failed">,
  limit: LineLimit,
  isOpen: () => boolean = () => true,
): LineSink {
  let isAfterMalformed = false;
  const parse = (text: string, problem: string): void => {
    if (!isOpen()) return;
    let value: unknown;
    try {
      value = isAfterMalformed ? withoutStack(() => parseJson(text)) : parseJson(text);
    } catch (cause) {
      if (text.trim() === "") return;
      isAfterMalformed = true;
      const excerpt = text.length > EXCERPT ? `${text.slice(0, EXCERPT)}…` : text;
      const fact = `${problem}: ${JSON.stringify(redact(excerpt))}`;
      const cure = "Each line must be one JSON-RPC message; logs belong on stderr.";
      receiver.malformed(withoutStack(() => new LocalError("invalid_message", `${fact}. ${cure}`, { cause })));
      return;
    }
    isAfterMalformed = false;
    limit.noteReceived(value);
    receiver.message(value);
  };
  return {
    onLine: (text) => parse(text, "A line is not JSON"),
    onDropped(line) {
      if (!isOpen()) return;
      const error = withoutStack(() => errorOf(line, limit.bytes));
      receiver.malformed(error);
      // The request fails now, and not after its time limit.
      const id = answeredId(line.head);
      if (id !== undefined && isOpen()) receiver.failed?.(id, error);
    },
    // A peer may omit the last line ending. JSON that was cut off never parses as an object.
    onUnfinished: (text) => parse(text, "The input ended inside a line"),
  };
}

function errorOf({ reason, bytes }: DroppedLine, limit: number): LocalError {
  if (reason === "not_utf8")
    return new LocalError("invalid_message", `A line of ${bytes} bytes is not UTF-8 and was dropped.`);
  const message = `A line of ${bytes} bytes is over the limit of ${limit} bytes and was dropped. Raise maxLineBytes.`;
  return new LocalError("too_large", message, { data: { bytes, limit } });
}

const response =
  /^\s*\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(-?\d{1,15}|"(?:[^"\\]|\\.){0,128}")\s*,\s*"(?:result|error)"/;

/** Returns the id of a response from its start, if the start contains it. */
function answeredId(head: string): RequestId | undefined {
  const id = response.exec(head)?.[1];
  return id === undefined ? undefined : (JSON.parse(id) as RequestId);
}
