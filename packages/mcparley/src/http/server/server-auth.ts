import type { Awaitable } from "../../rpc/awaitable.ts";
import type { Principal } from "../../server/dispatch/context.ts";
import type { Exchange, RequestHead, ResponseHeaders } from "../exchange.ts";
import type { HttpRefusal } from "./refusal.ts";

/** A request whose caller is asked for: its head, and a way to add headers to whatever will be answered. */
export type AskedRequest = RequestHead & Pick<Exchange, "decorate">;

/**
 * Says who a request comes from, before its body is read.
 *
 * It returns the caller, or undefined for an anonymous one, or returns or throws an `HttpRefusal` (401 or 403, with its
 * `WWW-Authenticate`) to send the client away. Any other error is reported and answered with 500.
 */
export type Authenticate = (request: AskedRequest) => Awaitable<Principal | HttpRefusal | undefined>;

/** A whole response that anyone may read. */
export interface PublicDocument {
  readonly status: number;
  readonly headers: ResponseHeaders;
  readonly body?: string;
}

/** Who may use an endpoint, and how clients are told: `protectedResource` of `mcparley/auth` makes one for OAuth. */
export interface HttpServerAuth {
  readonly authenticate: Authenticate;
  /**
   * What is public at a path, such as the metadata that tells clients where to sign in; undefined where it has nothing to
   * say. It is asked first of all, before the checks of `Host` and `Origin`, so it must depend on nothing but the
   * request's method and path.
   */
  document?(request: RequestHead): PublicDocument | undefined;
  /** The `WWW-Authenticate` for a caller who lacks scopes, all of which are given at once. */
  challenge?(scopes: readonly string[], request: RequestHead): string;
}
