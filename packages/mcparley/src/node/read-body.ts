import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import type { Held, ReadLimits } from "../http/exchange.ts";
import { bodyWasRead, notUtf8, tooLarge } from "../http/server/refusal.ts";
import type { Awaitable } from "../rpc/awaitable.ts";
import { LocalError } from "../rpc/errors.ts";

/** A request. Express and other frameworks store the body that they have parsed in `body`. */
export type NodeRequest = (IncomingMessage | Http2ServerRequest) & { body?: unknown };

/** The exchange whose body is read. */
interface BodyOwner {
  /** The text or bytes of the body that the framework passed on. */
  readonly givenBody?: unknown;
  /** Counts the bytes that have arrived. */
  readonly held: Pick<Held, "grow"> | undefined;
  /** The function that the exchange calls if the client disconnects. It is set while the body is read. */
  abortBody: ((error: Error) => void) | undefined;
}

const settledPromise = Promise.resolve();

/** Reads the whole body of a request as text, or takes it from a framework that has read it. See `Exchange.readText`. */
export function readBody(request: NodeRequest, limits: ReadLimits, owner: BodyOwner): Promise<string> {
  const read = (): Awaitable<string> => readArrived(request, limits, owner);
  // The body of a short request arrives with its head. The parser puts it into the buffer before microtasks run. If another
  // reader uses the stream too, nothing stays in the buffer.
  return request.readableFlowing === null ? settledPromise.then(read) : new Promise((resolve) => resolve(read()));
}

function readArrived(request: NodeRequest, limits: ReadLimits, owner: BodyOwner): Awaitable<string> {
  const { givenBody: body = request.readableEnded ? request.body : undefined } = owner;
  if (isText(body)) {
    const bytes = Buffer.from(body);
    if (bytes.length > limits.maxBytes) throw tooLarge(limits.maxBytes);
    return decode(bytes);
  }
  if (request.readableEnded) throw bodyWasRead();
  const header = request.headers["content-length"];
  const declaredSize = header === undefined ? undefined : Number(header);
  if (declaredSize !== undefined && declaredSize > limits.maxBytes) {
    discard(request, 2 * limits.maxBytes);
    throw tooLarge(limits.maxBytes);
  }
  let first: Buffer | null = null;
  // If another reader uses the stream too, it would lose the data that is taken from the buffer here.
  if (request.readableFlowing === null) {
    if (request.destroyed) throw clientClosed();
    first = request.read() as Buffer | null;
    if (first && first.length === declaredSize) return decode(first);
  }
  return readPieces(request, owner, { ...limits, declaredSize, first }).then(decode);
}

/** Returns the error of a request whose client disconnected. */
export function clientClosed(): LocalError {
  return new LocalError("closed", "The client closed the connection before the end of its request.");
}

interface Pieces extends ReadLimits {
  /** The size that `Content-Length` declares. */
  declaredSize: number | undefined;
  /** Bytes that were read already. */
  first: Buffer | null;
}

function readPieces(request: NodeRequest, owner: BodyOwner, pieces: Pieces): Promise<Buffer> {
  const { maxBytes, declaredSize, first } = pieces;
  let size = 0;
  let chunks: Buffer[] = [];
  let stopTimeout: (() => void) | undefined;
  return new Promise((resolve, reject) => {
    // The request lives as long as its response, which can be a stream that is open for days. It must not keep the body.
    const stop = (): void => {
      chunks = [];
      owner.abortBody = undefined;
      request.off("data", onData);
      request.off("end", finish);
      stopTimeout?.();
    };
    const fail = (error: Error, discardLimit: number): void => {
      stop();
      discard(request, discardLimit);
      reject(error);
    };
    const finish = (): void => {
      const bytes = Buffer.concat(chunks);
      stop();
      resolve(bytes);
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      const error = size > maxBytes ? tooLarge(maxBytes) : owner.held?.grow(size);
      if (error) return fail(error, 2 * maxBytes - size);
      chunks.push(chunk);
      // The parser passes no more than the declared size, so waiting for the end of the stream is not needed.
      if (size === declaredSize) finish();
    };
    owner.abortBody = (error) => {
      stop();
      reject(error);
    };
    request.on("data", onData);
    if (!declaredSize) request.on("end", finish);
    if (first) onData(first);
    if (size === 0 || size !== declaredSize) stopTimeout = pieces.startTimeout((error) => fail(error, maxBytes));
  });
}

function decode(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString("utf8");
  throw notUtf8();
}

/** Returns whether a body of a framework is not parsed yet. */
export function isText(body: unknown): body is string | Uint8Array {
  return typeof body === "string" || body instanceof Uint8Array;
}

/**
 * Reads and drops the rest of a body. If the socket were closed with unread data, the connection would be reset, and the
 * client could not read the response. Destroys the request after `allowed` bytes.
 */
function discard(request: NodeRequest, maxBytes: number): void {
  let remainingBytes = maxBytes;
  request.on("data", (chunk: Buffer) => {
    remainingBytes -= chunk.length;
    if (remainingBytes < 0) request.destroy();
  });
}
