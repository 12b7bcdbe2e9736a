import { isUtf8 } from "node:buffer";
import type { BodyReader, Reader } from "../http/exchange.ts";
import { notUtf8, tooLarge } from "../http/server/refusal.ts";
import type { NodeRequest } from "./node-exchange.ts";

/** The maximum size of a body and its `Content-Length`, in bytes. */
interface Size {
  limit: number;
  declared: number | undefined;
}

/** Reads the body of a request as text, or uses the body that a framework has read. See `Exchange.readText`. */
export function readBody(request: NodeRequest, limit: number, reader: BodyReader): void {
  if (request.readableEnded) return readAlready(request.body, limit, reader);
  const header = request.headers["content-length"];
  const declared = header === undefined ? undefined : Number(header);
  if (declared !== undefined && declared > limit) {
    discard(request, 2 * limit);
    return reader.reject(tooLarge(limit));
  }
  // If other code also reads the stream, taking bytes from the buffer would remove them for it.
  if (request.readableFlowing !== null) readLater(request, { limit, declared }, reader);
  // The body of a short request arrives with its head, and is in the buffer after the parser has continued.
  else process.nextTick(() => readBuffered(request, { limit, declared }, reader));
}

/** Uses a body that is complete in the buffer. Otherwise waits for the rest. */
function readBuffered(request: NodeRequest, size: Size, reader: BodyReader): void {
  const first = request.read() as Buffer | null;
  if (first && first.length === size.declared) settle(first, reader);
  else readLater(request, size, reader, first);
}

/** Reads the body in chunks. The promise restores the async context of the request; chunks arrive in that of the socket. */
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
  // The request object lives as long as its response, which can be a stream that is open for days.
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
    // The parser passes no more than the declared size, so there is no need to wait for the end.
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
    return reader.reject(
      new TypeError("The body of the request was already read, and request.body does not contain it."),
    );
  }
  const bytes = Buffer.from(body);
  if (bytes.length > limit) reader.reject(tooLarge(limit));
  else settle(bytes, reader);
}

/**
 * Reads and drops the rest of a body, so that the client can read the refusal: closing with unread data would reset the
 * connection. The connection is closed if the body is more than twice as large as the limit.
 */
function discard(request: NodeRequest, allowed: number): void {
  let left = allowed;
  request.on("data", (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) request.destroy();
  });
}
