import { isUtf8 } from "node:buffer";
import { notUtf8, tooLarge } from "../http/refusal.ts";
import type { NodeRequest } from "./node-exchange.ts";

/** Where the body of a request goes once it has been read, or has turned out not to be readable. */
export interface BodyReader {
  resolve(text: string): void;
  reject(error: Error): void;
}

/** Reads the whole body of a request as text, or takes what a framework has read; see `Exchange.readText`. */
export function readBody(request: NodeRequest, limit: number, reader: BodyReader): void {
  if (request.readableEnded) return readAlready(request.body, limit, reader);
  const declared = request.headers["content-length"];
  const length = declared === undefined ? undefined : Number(declared);
  if (length !== undefined && length > limit) {
    discard(request, 2 * limit);
    return reader.reject(tooLarge(limit));
  }
  let size = 0;
  let first: Buffer | undefined;
  let chunks: Buffer[] | undefined;

  const finish = (): void => settle(chunks ? Buffer.concat(chunks) : first, reader);
  const onData = (chunk: Buffer): void => {
    size += chunk.length;
    if (size > limit) {
      request.off("data", onData);
      discard(request, 2 * limit - size);
      return reader.reject(tooLarge(limit));
    }
    if (first) (chunks ??= [first]).push(chunk);
    else first = chunk;
    // The parser lets through no more than was declared, so there is no need to wait for the end of the stream.
    if (size === length) finish();
  };
  request.on("data", onData);
  if (!length) request.on("end", finish);
}

function settle(bytes: Buffer | undefined, reader: BodyReader): void {
  if (!bytes) reader.resolve("");
  else if (isUtf8(bytes)) reader.resolve(bytes.toString("utf8"));
  else reader.reject(notUtf8());
}

function readAlready(body: unknown, limit: number, reader: BodyReader): void {
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
