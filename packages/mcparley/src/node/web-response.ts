import type { IncomingMessage } from "node:http";
import { Readable, pipeline } from "node:stream";
import { constants, createBrotliDecompress, createGunzip, createInflate } from "node:zlib";

/** Statuses whose responses have no body. */
const withoutBody: ReadonlySet<number> = new Set([204, 205, 304]);

/** Delivers what has arrived, since an event stream may pause at any place. */
const zlibOptions = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH };
const brotliOptions = {
  flush: constants.BROTLI_OPERATION_FLUSH,
  finishFlush: constants.BROTLI_OPERATION_FLUSH,
};

/** Makes a web response whose body is decoded, as with `fetch`. Throws for a status or a header that is invalid. */
export function webResponse(incoming: IncomingMessage): Response {
  const { statusCode: status = 0, statusMessage: statusText = "", rawHeaders } = incoming;
  const headers = new Headers();
  for (let i = 0; i < rawHeaders.length; i += 2) headers.append(rawHeaders[i] ?? "", rawHeaders[i + 1] ?? "");
  if (withoutBody.has(status)) incoming.resume();
  const body = withoutBody.has(status) ? null : (Readable.toWeb(decoded(incoming)) as ReadableStream<Uint8Array>);
  return new Response(body, { status, statusText, headers });
}

/** The body without its content encodings. An unknown encoding is left as it is, as `fetch` does. */
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
