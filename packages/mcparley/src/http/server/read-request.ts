import { LocalError } from "../../rpc/errors.ts";
import type { Awaitable } from "../../rpc/awaitable.ts";
import { withoutByteOrderMark } from "../../rpc/parse-json.ts";
import type { HttpOptions } from "./options.ts";
import type { HttpRequestHead, HttpExchange, ReadLimits } from "../exchange.ts";
import { HttpRefusal, shortenValue, tooLarge } from "./refusal.ts";
import { ErrorCode } from "../../mcp/errors.ts";

/** A part of an HTTP endpoint: the MCP endpoint, or one of the two paths of the HTTP+SSE transport. */
export type Part = "mcp" | "stream" | "messages";

export interface Routes {
  /** The path of the MCP endpoint, without a slash at its end. Undefined if it is served at every path. */
  readonly mcp: string | undefined;
  /** The path to which clients of HTTP+SSE post. Undefined if the transport is off. */
  readonly messages: string | undefined;
  /** Returns the part at a path, with or without a slash at its end. */
  find(path: string): Part | undefined;
}

/** Reads the paths of the options. Throws a `LocalError` `invalid_definition` if two of them are the same. */
export function readRoutes({ path, legacySse = false }: HttpOptions): Routes {
  const mcp = path === undefined ? undefined : normal(path);
  const sse = legacySse === true ? {} : legacySse;
  const stream = sse ? normal(sse.path ?? "/sse") : undefined;
  const messages = sse ? normal(sse.messages ?? "/messages") : undefined;
  if (sse && new Set([mcp, stream, messages]).size < 3) {
    const paths = [mcp ?? "any", stream, messages].join(", ");
    const message = `path, legacySse.path and legacySse.messages must differ: ${paths}.`;
    throw new LocalError("invalid_definition", message);
  }
  return {
    mcp,
    messages,
    find(path) {
      const plain = withoutSlash(path);
      if (plain === stream) return "stream";
      if (plain === messages) return "messages";
      return mcp === undefined || plain === mcp ? "mcp" : undefined;
    },
  };
}

function normal(path: string): string {
  return withoutSlash(path.startsWith("/") ? path : `/${path}`);
}

function withoutSlash(path: string): string {
  return path.endsWith("/") ? path.slice(0, -1) : path;
}

/** The content types that a client accepts: `application/json` and `text/event-stream`. */
export interface Accepted {
  readonly json: boolean;
  readonly events: boolean;
}

const everything: Accepted = { json: true, events: true };

let lastHeader: string | undefined;
let lastAccepted: Accepted = everything;

/** Reads an `Accept` header. Accepts a missing header and wildcards, because many clients send nothing else. */
export function readAccept(header: string | undefined): Accepted {
  if (header === undefined) return everything;
  // Clients send the same header with each request.
  if (header === lastHeader) return lastAccepted;
  lastHeader = header;
  lastAccepted = parseAccept(header);
  return lastAccepted;
}

function parseAccept(header: string): Accepted {
  const types = new Set<string>();
  for (const range of header.toLowerCase().split(",")) {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim());
    if (!parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))) types.add(type);
  }
  const any = types.has("*/*");
  return {
    json: any || types.has("application/json") || types.has("application/*"),
    events: any || types.has("text/event-stream") || types.has("text/*"),
  };
}

/** Throws a refusal of 406 if the client of a GET does not accept an event stream. */
export function requireEventStream(request: HttpRequestHead): void {
  if (readAccept(request.header("accept")).events) return;
  throw new HttpRefusal(406, "GET needs Accept: text/event-stream.");
}

const jsonType = "application/json";

/**
 * Passes the body of a POST to `use`: its JSON, or the value that a framework has parsed. Returns the result of `use`.
 *
 * Rejects with a refusal: 415 if it is not declared as JSON, 400 if it is not JSON, and those of `Exchange.readText`.
 */
export function readJson<T>(
  exchange: HttpExchange,
  limits: ReadLimits,
  use: (value: unknown) => Awaitable<T>,
): Promise<T> {
  const { parsedBody } = exchange;
  const type = exchange.header("content-type");
  // Other content types are refused: a web page can send a form or plain text without a CORS preflight.
  if (type !== jsonType && type?.split(";", 1)[0]?.trim().toLowerCase() !== jsonType) {
    const receivedType = type === undefined ? "none" : `"${shortenValue(type)}"`;
    return Promise.reject(new HttpRefusal(415, `Content-Type must be application/json; got ${receivedType}.`));
  }
  const encoding = exchange.header("content-encoding");
  if (encoding !== undefined && encoding.toLowerCase() !== "identity" && parsedBody === undefined) {
    const cure = "Send it without Content-Encoding.";
    return Promise.reject(new HttpRefusal(415, `The body is encoded as "${shortenValue(encoding)}". ${cure}`));
  }
  if (parsedBody !== undefined) return checkParsed(exchange, parsedBody, limits.maxBytes).then(use);
  return exchange.readText(limits).then((text) => use(parse(text)));
}

function parse(text: string): unknown {
  try {
    return JSON.parse(withoutByteOrderMark(text));
  } catch {
    throw new HttpRefusal(400, "Parse error: the body is not JSON.", { code: ErrorCode.ParseError });
  }
}

/** Applies the size limit to a body that a framework has parsed: to `Content-Length` if possible, else to its JSON. */
async function checkParsed(exchange: HttpExchange, body: unknown, maxBytes: number): Promise<unknown> {
  const declaredLength = exchange.header("content-length");
  const isPlain = declaredLength !== undefined && exchange.header("content-encoding") === undefined;
  const length = isPlain ? Number(declaredLength) : sizeOf(body);
  if (length > maxBytes) throw tooLarge(maxBytes);
  return body;
}

function sizeOf(body: unknown): number {
  try {
    return new TextEncoder().encode(JSON.stringify(body)).length;
  } catch {
    throw new HttpRefusal(400, "The body is nested too deeply.");
  }
}
