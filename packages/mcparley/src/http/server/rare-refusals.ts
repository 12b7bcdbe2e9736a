import { ErrorCode } from "../../mcp/errors.ts";
import type { RequestId } from "../../rpc/messages.ts";
import type { HttpRequestHead } from "../exchange.ts";
import type { ForeignHeader } from "./host-check.ts";
import type { Mismatch } from "./mirrored-headers.ts";
import { HttpRefusal, shown } from "./refusal.ts";

/* Refusals of requests that no correct MCP client sends. Loaded with the first of them, because their texts are long. */

const refusals = {
  host: ["Host", "allowedHosts", "it is a name of this server"],
  origin: ["Origin", "allowedOrigins", "its pages may use this server"],
} as const;

/** Makes the refusal of a request whose `Host` or `Origin` is not allowed. */
export function refuseForeign(header: ForeignHeader, request: HttpRequestHead): HttpRefusal {
  const [name, option, condition] = refusals[header];
  const value = shown(request.header(header) ?? "");
  return new HttpRefusal(
    403,
    `The ${name} "${value}" is not allowed. Add it to the server's ${option} option if ${condition}.`,
  );
}

export function notAcceptable(request: HttpRequestHead): HttpRefusal {
  const accept = shown(request.header("accept") ?? "");
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

export function notJson(request: HttpRequestHead): HttpRefusal {
  const contentType = request.header("content-type");
  const got = contentType === undefined ? "none" : `"${shown(contentType)}"`;
  return new HttpRefusal(415, `Content-Type must be application/json; got ${got}.`);
}

export function encoded(encoding: string): HttpRefusal {
  return new HttpRefusal(415, `The body is encoded as "${shown(encoding)}". Send it without Content-Encoding.`);
}

/** Makes the error for a body that a framework has read and not passed on. Also reported to the server's `onError`. */
export function bodyWasRead(): HttpRefusal {
  const cure = "Pass it to the MCP handler: handler(request, response, { body }), or fetch(request, { body }).";
  const message = `The framework has read the body of the request. ${cure}`;
  return new HttpRefusal(500, message, { code: ErrorCode.InternalError, cause: new Error(message) });
}

/** Makes the refusal of a request with a header that differs from its message. */
export function mismatched({ name, header, value }: Mismatch, id: RequestId): HttpRefusal {
  const inHeader = header === undefined ? `${name} header is missing` : `${name} header value '${shown(header)}'`;
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  const inBody = value === undefined ? "the body has no value for it" : `body value '${shown(text)}'`;
  const joint = header === undefined ? "; expected" : value === undefined ? ", but" : " does not match";
  return new HttpRefusal(400, `Header mismatch: ${inHeader}${joint} ${inBody}.`, {
    code: ErrorCode.HeaderMismatch,
    id,
  });
}
