import { ErrorCode } from "../../mcp/errors.ts";
import type { HttpExchange, ReadLimits } from "../exchange.ts";
import { HttpRefusal, tooLarge } from "./refusal.ts";

/**
 * Reads the body of a POST as JSON, or returns the value that a framework has parsed.
 *
 * Rejects with a refusal: 415 if it is not declared as JSON, 400 if it is not JSON, and those of `Exchange.readText`.
 */
export async function readJson(exchange: HttpExchange, limits: ReadLimits): Promise<unknown> {
  const { parsedBody } = exchange;
  if (!isJson(exchange.header("content-type"))) throw (await import("./rare-refusals.ts")).notJson(exchange);
  const encoding = exchange.header("content-encoding");
  if (encoding !== undefined && encoding.toLowerCase() !== "identity" && parsedBody === undefined) {
    throw (await import("./rare-refusals.ts")).encoded(encoding);
  }
  if (parsedBody !== undefined) return checkParsed(exchange, parsedBody, limits.maxBytes);
  const text = await exchange.readText(limits);
  try {
    return JSON.parse(text);
  } catch {
    throw new HttpRefusal(400, "Parse error: the body is not JSON.", { code: ErrorCode.ParseError });
  }
}

/** Other content types are refused: a web page can send a form or plain text without a CORS preflight. */
function isJson(contentType: string | undefined): boolean {
  const json = "application/json";
  return contentType === json || contentType?.split(";", 1)[0]?.trim().toLowerCase() === json;
}

/** Applies the size limit to a body that a framework has parsed: to `Content-Length` if possible, else to its JSON. */
function checkParsed(exchange: HttpExchange, parsed: unknown, maxBytes: number): unknown {
  const sent = exchange.header("content-length");
  const isPlain = sent !== undefined && exchange.header("content-encoding") === undefined;
  const length = isPlain ? Number(sent) : new TextEncoder().encode(JSON.stringify(parsed)).length;
  if (length > maxBytes) throw tooLarge(maxBytes);
  return parsed;
}
