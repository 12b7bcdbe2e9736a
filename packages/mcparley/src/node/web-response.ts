import type { IncomingMessage } from "node:http";
import { Readable, pipeline } from "node:stream";
import { decoderFor } from "./http-client/decoder.ts";

/** The statuses of responses without a body. */
const withoutBody: ReadonlySet<number> = new Set([204, 205, 304]);

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

/** Returns the body without its content encodings. */
function decoded(incoming: IncomingMessage): Readable {
  const decoder = decoderFor(incoming.headers["content-encoding"] ?? "");
  if (!decoder) return incoming;
  // The reader of the decoded body gets the error.
  pipeline(incoming, decoder.first, () => {});
  return decoder.last;
}
