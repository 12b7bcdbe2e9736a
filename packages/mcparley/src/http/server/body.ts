import { ErrorCode } from "../../mcp/errors.ts";
import type { Exchange, ReadLimits } from "../exchange.ts";
import { HttpRefusal, shown, tooLarge } from "./refusal.ts";

/**
 * Reads the body of a POST as JSON, or returns the value that a framework has parsed.
 *
 * Rejects with a refusal: 415 if it is not declared as JSON, 400 if it is not JSON, and those of `Exchange.readText`.
 */
export async function readJson(exchange: Exchange, limits: ReadLimits): Promise<unknown> {
  requireJson(exchange);
  const { parsedBody } = exchange;
  if (parsedBody !== undefined) return checkParsed(exchange, parsedBody, limits.maxBytes);
  const text = await exchange.readText(limits);
  try {
    return JSON.parse(text);
  } catch {
    throw new HttpRefusal(400, "Parse error: the body is not JSON.", { code: ErrorCode.ParseError });
  }
}

/** Refuses other content types with 415: a web page can send a form or plain text without a CORS preflight. */
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

/** Applies the size limit to a body that a framework has parsed: to `Content-Length` if possible, else to its JSON. */
function checkParsed(exchange: Exchange, parsed: unknown, maxBytes: number): unknown {
  const sent = exchange.header("content-length");
  const isPlain = sent !== undefined && exchange.header("content-encoding") === undefined;
  const length = isPlain ? Number(sent) : new TextEncoder().encode(JSON.stringify(parsed)).length;
  if (length > maxBytes) throw tooLarge(maxBytes);
  return parsed;
}
