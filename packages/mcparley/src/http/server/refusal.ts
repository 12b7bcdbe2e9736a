import { ErrorCode } from "../../mcp/errors.ts";
import { type RequestId, encode, failure } from "../../rpc/messages.ts";
import type { Exchange, ResponseHeaders } from "../exchange.ts";

/** Options of an `HttpRefusal`. */
export interface RefusalOptions {
  headers?: ResponseHeaders;
  /** The JSON-RPC code in the body. `InvalidRequest` unless given. */
  code?: number;
  /** The id of the request that is refused, where it could be read. */
  id?: RequestId | undefined;
  /** What went wrong behind it, for the server's `onError`: it is not sent. */
  cause?: unknown;
}

/**
 * Why an HTTP request is answered with a status and nothing else: it never became a call.
 *
 * What authenticates returns or throws one to send a client away; its message is sent to the client.
 */
export class HttpRefusal extends Error {
  override readonly name: string = "HttpRefusal";
  readonly status: number;
  readonly options: RefusalOptions;

  constructor(status: number, message: string, options: RefusalOptions = {}) {
    super(message);
    this.status = status;
    this.options = options;
  }
}

export const jsonHeaders: ResponseHeaders = { "content-type": "application/json" };

/** Answers with a refusal. Its body is a JSON-RPC error, without an id where it answers no request. */
export function refuse(exchange: Exchange, { status, message, options }: HttpRefusal): void {
  const { headers, code = ErrorCode.InvalidRequest, id } = options;
  exchange.respond(status, { ...jsonHeaders, ...headers }, encode(failure(id, { code, message })));
}

/** Shortens what a client sent, to be named in an error. */
export function shown(value: string): string {
  return value.length > 100 ? `${value.slice(0, 100)}...` : value;
}

export function notAllowed(method: string, allow: string): HttpRefusal {
  return new HttpRefusal(405, `${method} is not answered here.`, { headers: { allow } });
}

/** The cure is another process, which a balancer finds once the client connects anew. */
export function shuttingDown(id?: RequestId): HttpRefusal {
  return new HttpRefusal(503, "The server is shutting down.", {
    headers: { "retry-after": "1", connection: "close" },
    id,
  });
}

export function tooLarge(limit: number): HttpRefusal {
  return new HttpRefusal(413, `The body is larger than ${limit} bytes.`);
}

export function notUtf8(): HttpRefusal {
  return new HttpRefusal(400, "Parse error: the body is not UTF-8.", { code: ErrorCode.ParseError });
}
