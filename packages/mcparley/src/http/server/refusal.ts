import { ErrorCode } from "../../mcp/errors.ts";
import { type RequestId, encode, failure } from "../../rpc/messages.ts";
import type { HttpExchange, ResponseHeaders } from "../exchange.ts";
import type * as RareRefusals from "./rare-refusals.ts";

/** Options of an `HttpRefusal`. */
export interface RefusalOptions {
  /** Headers to add to the response, such as `WWW-Authenticate`. */
  headers?: ResponseHeaders;
  /** The JSON-RPC code in the body. Default: `InvalidRequest`. */
  code?: number;
  /** The id of the refused request. Undefined if it is unknown. */
  id?: RequestId | undefined;
  /** The underlying error. The server's `onError` receives it, and the client does not. */
  cause?: unknown;
}

/**
 * Refuses an HTTP request with a status and a JSON-RPC error. The request never becomes a call.
 *
 * An `Authenticate` function returns or throws it to refuse a client. The client receives its message.
 *
 * @example
 * ```ts
 * import { type Authenticate, HttpRefusal } from "mcparley/http";
 *
 * const users = new Map([["a secret key", "ada"]]);
 *
 * export const auth: Authenticate = (request) => {
 *   const subject = users.get(request.header("x-api-key") ?? "");
 *   if (!subject) throw new HttpRefusal(401, "Unknown API key.", { headers: { "www-authenticate": "ApiKey" } });
 *   return { issuer: "https://example.com", subject, scopes: [] };
 * };
 * ```
 */
export class HttpRefusal extends Error {
  override readonly name: string = "HttpRefusal";
  /** The HTTP status, from 400 to 599. */
  readonly status: number;
  /** Headers and the JSON-RPC code of the response. */
  readonly options: RefusalOptions;

  constructor(status: number, message: string, options: RefusalOptions = {}) {
    super(message);
    this.status = status;
    this.options = options;
  }
}

export const jsonHeaders: ResponseHeaders = { "content-type": "application/json" };

/** Answers with a refusal. The body is a JSON-RPC error. It has no id if the id of the request is unknown. */
export function refuse(exchange: HttpExchange, { status, message, options }: HttpRefusal): void {
  const { headers, code = ErrorCode.InvalidRequest, id } = options;
  exchange.respond(status, { ...jsonHeaders, ...headers }, encode(failure(id, { code, message })));
}

/** Rejects with a refusal whose text is loaded when it is needed. */
export async function rarely(select: (refusals: typeof RareRefusals) => HttpRefusal): Promise<never> {
  throw select(await import("./rare-refusals.ts"));
}

/** Shortens a value from a client for an error message. */
export function shown(value: string): string {
  return value.length > 100 ? `${value.slice(0, 100)}...` : value;
}

/** Refuses an HTTP method. `allow` lists the methods that exist, separated by commas. */
export function notAllowed(method: string, allow: string): HttpRefusal {
  return new HttpRefusal(405, `Method ${method} is not allowed; use ${allow}.`, { headers: { allow } });
}

/** Closes the connection, so that the client reconnects. A load balancer then selects another process. */
export function shuttingDown(id?: RequestId): HttpRefusal {
  return new HttpRefusal(503, "The server is shutting down.", {
    headers: { "retry-after": "1", connection: "close" },
    id,
  });
}

export function tooLarge(limit: number): HttpRefusal {
  return new HttpRefusal(413, `The body is larger than ${limit} bytes (maxBody).`);
}

export function notUtf8(): HttpRefusal {
  return new HttpRefusal(400, "Parse error: the body is not UTF-8.", { code: ErrorCode.ParseError });
}
