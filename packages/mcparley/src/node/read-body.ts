import { isUtf8 } from "node:buffer";
import { notUtf8, tooLarge } from "../http/refusal.ts";
import { LocalError } from "../jsonrpc/errors.ts";
import type { NodeRequest } from "./node-exchange.ts";

/** Reads the whole body of a request as text, or takes what a framework has read; see `Exchange.readText`. */
export function readBody(request: NodeRequest, limit: number): Promise<string> {
  if (request.readableEnded) return readAlready(request.body, limit);
  return new Promise((resolve, reject) => {
    let first: Buffer | undefined;
    let chunks: Buffer[] | undefined;
    let size = 0;

    const refuse = (): void => {
      request.off("data", onData);
      discard(request, limit);
      reject(tooLarge(limit));
    };
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > limit) refuse();
      else if (!first) first = chunk;
      else (chunks ??= [first]).push(chunk);
    };
    const onLost = (): void => reject(new LocalError("closed", "The client went away before the end of its request."));

    request.on("error", onLost);
    request.on("close", onLost);
    request.on("end", () => {
      const whole = chunks ? Buffer.concat(chunks) : first;
      if (!whole) resolve("");
      else if (isUtf8(whole)) resolve(whole.toString("utf8"));
      else reject(notUtf8());
    });
    if (Number(request.headers["content-length"] ?? 0) > limit) refuse();
    else request.on("data", onData);
  });
}

async function readAlready(body: unknown, limit: number): Promise<string> {
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  if (!(bytes instanceof Uint8Array)) {
    throw new TypeError("The body of the request was read before, and request.body does not hold it.");
  }
  if (bytes.length > limit) throw tooLarge(limit);
  if (!isUtf8(bytes)) throw notUtf8();
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}

/**
 * Drops the rest of a body, so that the client gets to read its refusal: closing on unread data would reset the
 * connection. One that goes on for as long again is cut off.
 */
function discard(request: NodeRequest, limit: number): void {
  let left = limit;
  request.on("data", (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) request.destroy();
  });
}
