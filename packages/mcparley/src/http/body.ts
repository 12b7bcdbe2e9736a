import { ErrorCode } from "../jsonrpc/errors.ts";
import type { Exchange } from "./exchange.ts";
import { HttpRefusal, shown, tooLarge } from "./refusal.ts";

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

/** Reads the body of a POST as JSON, or takes it as a framework has parsed it; of at most `limit` bytes. */
export function readMessage(exchange: Exchange, limit: number): Promise<unknown> {
  requireJson(exchange);
  const { parsedBody } = exchange;
  if (parsedBody === undefined) return exchange.readText(limit).then(parse);
  return Promise.resolve(withinLimit(exchange, parsedBody, limit));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new HttpRefusal(400, "Parse error: the body is not JSON.", { code: ErrorCode.ParseError });
  }
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
