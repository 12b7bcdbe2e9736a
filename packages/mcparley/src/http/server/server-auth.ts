import type { Awaitable } from "../../rpc/awaitable.ts";
import type { Principal } from "../../server/dispatch/context.ts";
import type { Store } from "../../store/store.ts";
import type { HttpExchange, HttpRequestHead, ResponseHeaders } from "../exchange.ts";
import type { HttpRefusal } from "./refusal.ts";

/** A request to authenticate: its head, and a method that adds headers to its response. */
export type AuthenticationRequest = HttpRequestHead & Pick<HttpExchange, "decorate">;

/**
 * Returns the caller of a request, before its body is read. `store` is the server's store, for checks that several
 * processes share, such as the replay protection of DPoP proofs; undefined if the server has none.
 *
 * It returns undefined for an anonymous caller, and returns or throws an `HttpRefusal` (401 or 403, with its
 * `WWW-Authenticate`) to refuse the request. Any other error is reported and answered with 500.
 */
export type Authenticate = (
  request: AuthenticationRequest,
  store?: Store,
) => Awaitable<Principal | HttpRefusal | undefined>;

/** A complete response that anyone may read. */
export interface PublicResponse {
  /** HTTP status of the response. */
  readonly status: number;
  /** Headers of the response. */
  readonly headers: ResponseHeaders;
  /** Body of the response, as text. Default: empty. */
  readonly body?: string;
}

/** The authentication of an endpoint. `protectedResource` of `mcparley/auth` makes one for OAuth. */
export interface HttpServerAuth {
  /** Verifies the credentials of each request before its body is read. See `Authenticate`. */
  readonly authenticate: Authenticate;
  /**
   * Returns the public document at a path, such as the metadata that names the authorization server. Undefined if there is
   * none. It is called before the checks of `Host` and `Origin`, so it must depend only on the request's method and path.
   */
  document?(request: HttpRequestHead): PublicResponse | undefined;
  /** Returns the `WWW-Authenticate` for a caller without the required scopes. `scopes` contains all of them. */
  challenge?(scopes: readonly string[], request: HttpRequestHead): string;
}
