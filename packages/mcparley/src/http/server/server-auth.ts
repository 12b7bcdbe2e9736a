import type { Principal } from "../../server/dispatch/context.ts";
import type { Store } from "../../store/store.ts";
import type { Exchange, RequestHead, ResponseHeaders } from "../exchange.ts";
import type { HttpRefusal } from "./refusal.ts";

type MaybePromise<T> = T | Promise<T>;

/** A request whose caller is asked for: its head, and a way to add headers to whatever will be answered. */
export type AskedRequest = RequestHead & Pick<Exchange, "decorate">;

/**
 * Returns the caller of a request, before its body is read. `store` is the server's store, for checks that several
 * processes share, such as the replay protection of DPoP proofs; undefined if the server has none.
 *
 * It returns undefined for an anonymous caller, and returns or throws an `HttpRefusal` (401 or 403, with its
 * `WWW-Authenticate`) to refuse the request. Any other error is reported and answered with 500.
 */
export type Authenticate = (request: AskedRequest, store?: Store) => MaybePromise<Principal | HttpRefusal | undefined>;

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
