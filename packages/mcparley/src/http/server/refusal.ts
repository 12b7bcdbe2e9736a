import { ErrorCode } from "../../mcp/errors.ts";
import { type RequestId, encode, failure } from "../../rpc/messages.ts";
import type { HttpExchange, HttpRequestHead, ResponseHeaders } from "../exchange.ts";
import type { ForeignHeader } from "./host-check.ts";
import type { Mismatch } from "./mirrored-headers.ts";

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

/** Shortens a value from a client for an error message. */
export function shortenValue(value: string): string {
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

const refusals = {
  host: ["Host", "allowedHosts", "it is a name of this server"],
  origin: ["Origin", "allowedOrigins", "its pages may use this server"],
} as const;

/** Makes the refusal of a request whose `Host` or `Origin` is not allowed. */
export function refuseForeign(header: ForeignHeader, request: HttpRequestHead): HttpRefusal {
  const [name, option, condition] = refusals[header];
  const value = shortenValue(request.header(header) ?? "");
  return new HttpRefusal(
    403,
    `The ${name} "${value}" is not allowed. Add it to the server's ${option} option if ${condition}.`,
  );
}

export function notAcceptable(request: HttpRequestHead): HttpRefusal {
  const accept = shortenValue(request.header("accept") ?? "");
  return new HttpRefusal(406, `Accept "${accept}" excludes every response. Send: application/json, text/event-stream.`);
}

export function noResponses(): HttpRefusal {
  return new HttpRefusal(
    400,
    "Clients of this revision must not send responses. Retry the request with inputResponses.",
  );
}

export function noStream(id: RequestId): HttpRefusal {
  return new HttpRefusal(406, "A subscription is an event stream: send Accept: text/event-stream.", { id });
}

/** Makes the error for a body that a framework has read and not passed on. Also reported to the server's `onError`. */
export function bodyWasRead(): HttpRefusal {
  const cure = "Pass it to the MCP handler: handler(request, response, { body }), or fetch(request, { body }).";
  const message = `The framework has read the body of the request. ${cure}`;
  return new HttpRefusal(500, message, { code: ErrorCode.InternalError, cause: new Error(message) });
}

/** Makes the refusal of a request with a header that differs from its message. */
export function headerMismatch({ name, header, value }: Mismatch, id: RequestId): HttpRefusal {
  const inHeader =
    header === undefined ? `${name} header is missing` : `${name} header value '${shortenValue(header)}'`;
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  const inBody = value === undefined ? "the body has no value for it" : `body value '${shortenValue(text)}'`;
  const joint = header === undefined ? "; expected" : value === undefined ? ", but" : " does not match";
  return new HttpRefusal(400, `Header mismatch: ${inHeader}${joint} ${inBody}.`, {
    code: ErrorCode.HeaderMismatch,
    id,
  });
}
