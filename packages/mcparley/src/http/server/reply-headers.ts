import { type JsonRpcResponse, isFailure, isObject } from "../../rpc/messages.ts";
import type { Reply } from "../../server/dispatch/reply.ts";
import type { RequestHead, ResponseHeaders } from "../exchange.ts";
import { jsonHeaders } from "./refusal.ts";
import type { HttpServerAuth } from "./server-auth.ts";

/** The headers of a JSON answer: what its status calls for besides its body. */
export function headersOf(reply: Reply, auth: HttpServerAuth | undefined, request: RequestHead): ResponseHeaders {
  if (reply.status === 200) return jsonHeaders;
  if (reply.scopes) {
    return { ...jsonHeaders, "www-authenticate": auth?.challenge?.(reply.scopes, request) ?? challenge(reply.scopes) };
  }
  if (reply.status === 429 || reply.status === 503) return { ...jsonHeaders, "retry-after": retryAfter(reply.message) };
  return jsonHeaders;
}

/** Tells a client that lacks scopes which to ask for (RFC 6750 section 3; 2025-11-25, authorization, "Scope Challenge"). */
function challenge(scopes: readonly string[]): string {
  return `Bearer error="insufficient_scope", scope="${scopes.join(" ").replace(/["\\]/g, "\\$&")}"`;
}

/** The seconds that the error names, or one. */
function retryAfter(message: JsonRpcResponse): string {
  const data = isFailure(message) ? message.error.data : undefined;
  const seconds = isObject(data) ? data.retryAfter : undefined;
  return typeof seconds === "number" ? String(Math.ceil(seconds)) : "1";
}
