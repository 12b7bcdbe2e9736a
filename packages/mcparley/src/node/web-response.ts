import type { IncomingMessage } from "node:http";
import { Readable, pipeline } from "node:stream";
import { constants, createBrotliDecompress, createGunzip, createInflate } from "node:zlib";

/** The statuses of responses without a body. */
const withoutBody: ReadonlySet<number> = new Set([204, 205, 304]);

/** The decoders output all bytes that have arrived, because an event stream may pause at any time. */
const zlibOptions = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH };
const brotliOptions = {
  flush: constants.BROTLI_OPERATION_FLUSH,
  finishFlush: constants.BROTLI_OPERATION_FLUSH,
};

/**
 * Calls `resolve` with a web response with a decoded body, as that of `fetch`. If the status or a header is invalid, calls
 * `reject` and closes the connection.
 */
export function settleResponse(
  incoming: IncomingMessage,
  resolve: (response: Response) => void,
  reject: (error: unknown) => void,
): void {
  try {
    resolve(webResponse(incoming));
  } catch (error) {
    incoming.destroy();
    reject(error);
  }
}

function webResponse(incoming: IncomingMessage): Response {
  const { statusCode: status = 0, statusMessage: statusText = "", rawHeaders } = incoming;
  const headers = new Headers();
  for (let i = 0; i < rawHeaders.length; i += 2) headers.append(rawHeaders[i] ?? "", rawHeaders[i + 1] ?? "");
  if (withoutBody.has(status)) incoming.resume();
  const body = withoutBody.has(status) ? null : (Readable.toWeb(decoded(incoming)) as ReadableStream<Uint8Array>);
  return new Response(body, { status, statusText, headers });
}

/** Returns the body without its content encodings. Unknown encodings are ignored, as by `fetch`. */
function decoded(incoming: IncomingMessage): Readable {
  let body: Readable = incoming;
  for (const encoding of (incoming.headers["content-encoding"] ?? "").split(",").toReversed()) {
    const decoder = decoderOf(encoding.trim().toLowerCase());
    // The reader of the decoded body gets the error.
    if (decoder) body = pipeline(body, decoder, () => {});
  }
  return body;
}

function decoderOf(encoding: string): (NodeJS.ReadWriteStream & Readable) | undefined {
  if (encoding === "gzip" || encoding === "x-gzip") return createGunzip(zlibOptions);
  if (encoding === "deflate") return createInflate(zlibOptions);
  return encoding === "br" ? createBrotliDecompress(brotliOptions) : undefined;
}
