import { isUtf8 } from "node:buffer";
import type { BodyReader, Reader } from "../http/exchange.ts";
import { notUtf8, tooLarge } from "../http/server/refusal.ts";
import type { NodeRequest } from "./node-exchange.ts";

/** How long a body may be, in bytes, and how long it is as far as its request says. */
interface Size {
  limit: number;
  declared: number | undefined;
}

/** Reads the whole body of a request as text, or takes what a framework has read; see `Exchange.readText`. */
export function readBody(request: NodeRequest, limit: number, reader: BodyReader): void {
  if (request.readableEnded) return readAlready(request.body, limit, reader);
  const header = request.headers["content-length"];
  const declared = header === undefined ? undefined : Number(header);
  if (declared !== undefined && declared > limit) {
    discard(request, 2 * limit);
    return reader.reject(tooLarge(limit));
  }
  // Where somebody else reads along, what is taken from the buffer would be missing there.
  if (request.readableFlowing !== null) readLater(request, { limit, declared }, reader);
  // The body of a short request has come with its head, and is in the buffer once the parser has gone on.
  else process.nextTick(() => readBuffered(request, { limit, declared }, reader));
}

/** Takes a body that is there, whole and in one piece; waits for what is missing of another. */
function readBuffered(request: NodeRequest, size: Size, reader: BodyReader): void {
  const first = request.read() as Buffer | null;
  if (first && first.length === size.declared) settle(first, reader);
  else readLater(request, size, reader, first);
}

/** Pieces come in a context of their socket; a promise keeps that of the request, which its caller may have made. */
function readLater(request: NodeRequest, size: Size, reader: BodyReader, first: Buffer | null = null): void {
  new Promise<string>((resolve, reject) => {
    readPieces(request, size, { resolve, reject, slow: reader, first });
  }).then(
    (text) => reader.resolve(text),
    (error: unknown) => reader.reject(error),
  );
}

function readPieces(
  request: NodeRequest,
  { limit, declared }: Size,
  { slow, first, ...reader }: Reader<string> & { slow: BodyReader; first: Buffer | null },
): void {
  let size = 0;
  let chunks: Buffer[] = [];
  // The request lives as long as its answer, which may be a stream that is open for days.
  const forget = (): void => {
    chunks = [];
    request.off("data", onData);
    request.off("end", finish);
  };
  const finish = (): void => {
    const bytes = Buffer.concat(chunks);
    forget();
    settle(bytes, reader);
  };
  const onData = (chunk: Buffer): void => {
    size += chunk.length;
    const refusal = size > limit ? tooLarge(limit) : slow.received(size);
    if (refusal) {
      forget();
      discard(request, 2 * limit - size);
      return reader.reject(refusal);
    }
    chunks.push(chunk);
    // The parser lets through no more than was declared, so there is no need to wait for the end of the stream.
    if (size === declared) finish();
  };
  request.on("data", onData);
  if (!declared) request.on("end", finish);
  if (first) onData(first);
  if (size === 0 || size !== declared) {
    slow.pending(() => {
      forget();
      discard(request, limit);
    });
  }
}

function settle(bytes: Buffer, reader: Reader<string>): void {
  if (isUtf8(bytes)) reader.resolve(bytes.toString("utf8"));
  else reader.reject(notUtf8());
}

function readAlready(body: unknown, limit: number, reader: Reader<string>): void {
  if (typeof body !== "string" && !(body instanceof Uint8Array)) {
    return reader.reject(new TypeError("The body of the request was read before, and request.body does not hold it."));
  }
  const bytes = Buffer.from(body);
  if (bytes.length > limit) reader.reject(tooLarge(limit));
  else settle(bytes, reader);
}

/**
 * Drops the rest of a body, so that the client gets to read its refusal: closing on unread data would reset the
 * connection. One that is more than twice as long as it may be is cut off.
 */
function discard(request: NodeRequest, allowed: number): void {
  let left = allowed;
  request.on("data", (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) request.destroy();
  });
}
