import { type Transform, pipeline } from "node:stream";
import { constants, createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { readEncodings } from "../../http/client/encodings.ts";

/** The decoders output all bytes that have arrived, because an event stream may pause at any time. */
const zlibOptions = { flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH };
const brotliOptions = {
  flush: constants.BROTLI_OPERATION_FLUSH,
  finishFlush: constants.BROTLI_OPERATION_FLUSH,
};

/** Decodes a body. The first stream is written to, and the last one is read. */
export interface BodyDecoder {
  first: Transform;
  last: Transform;
}

/**
 * Returns the decoder for a `content-encoding`. Unknown encodings are ignored, as by `fetch`. Throws `LocalError` `too_large` for more
 * than three.
 */
export function decoderFor(encodings: string): BodyDecoder | undefined {
  const [first, ...furtherDecoders] = readEncodings(encodings).flatMap((name) => decoderOf(name) ?? []);
  if (!first) return undefined;
  // The reader of the last stream gets the error.
  const last = furtherDecoders.reduce((source, target) => pipeline(source, target, () => {}), first);
  return { first, last };
}

function decoderOf(encoding: string): Transform | undefined {
  if (encoding === "gzip" || encoding === "x-gzip") return createGunzip(zlibOptions);
  if (encoding === "deflate") return createInflate(zlibOptions);
  return encoding === "br" ? createBrotliDecompress(brotliOptions) : undefined;
}
