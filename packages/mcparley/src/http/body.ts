import { ErrorCode } from "../jsonrpc/errors.ts";
import type { Exchange, Reader } from "./exchange.ts";
import { HttpRefusal, shown, tooLarge } from "./refusal.ts";
import type { RequestLimits, Wait } from "./request-limits.ts";

/** Refuses with 415 a body that is not said to be JSON: a form or plain text is what a page can send unasked. */
function requireJson(exchange: Exchange): void {
  const contentType = exchange.header("content-type");
  if (
    contentType !== "application/json" &&
    contentType?.split(";", 1)[0]?.trim().toLowerCase() !== "application/json"
  ) {
    const got = contentType === undefined ? "none" : `"${shown(contentType)}"`;
    throw new HttpRefusal(415, `Content-Type must be application/json; got ${got}.`);
  }
  const encoding = exchange.header("content-encoding");
  if (encoding === undefined || encoding.toLowerCase() === "identity" || exchange.parsedBody !== undefined) return;
  throw new HttpRefusal(415, `The body is encoded as "${shown(encoding)}". Send it as it is.`);
}

/** How bodies are read. */
export interface BodyLimits {
  /** Bytes of a body. */
  readonly max: number;
  readonly requests: RequestLimits;
}

/**
 * Reads the body of a POST as JSON, or takes it as a framework has parsed it.
 *
 * Throws a refusal for what is wrong with its headers. Rejects with 408 if the body takes too long.
 */
export function readMessage(exchange: Exchange, { max, requests }: BodyLimits, reader: Reader<unknown>): void {
  requireJson(exchange);
  const { parsedBody, held } = exchange;
  if (parsedBody !== undefined) return reader.resolve(withinLimit(exchange, parsedBody, max));
  let wait: Wait | undefined;
  exchange.readText(max, {
    received: (bytes) => held?.grow(bytes),
    resolve: (text) => {
      if (wait?.end() !== false) parse(text, reader);
    },
    reject: (error) => {
      if (wait?.end() !== false) reader.reject(error);
    },
    pending: (stop) => {
      wait = requests.wait((refusal) => {
        stop();
        reader.reject(refusal);
      });
    },
  });
}

function parse(text: string, reader: Reader<unknown>): void {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const options = { code: ErrorCode.ParseError };
    return reader.reject(new HttpRefusal(400, "Parse error: the body is not JSON.", options));
  }
  reader.resolve(value);
}

/**
 * Holds a body that a framework has parsed to the limit as well: its length as it was sent, or where that is not known
 * (it was compressed, or came in chunks) the length of its JSON.
 */
function withinLimit(exchange: Exchange, parsed: unknown, limit: number): unknown {
  const sent = exchange.header("content-length");
  const isPlain = sent !== undefined && exchange.header("content-encoding") === undefined;
  const length = isPlain ? Number(sent) : new TextEncoder().encode(JSON.stringify(parsed)).length;
  if (length > limit) throw tooLarge(limit);
  return parsed;
}
