import type { Awaitable } from "../../rpc/awaitable.ts";
import type { Principal } from "../../server/core/context.ts";
import type { Store } from "../../store/store.ts";
import type { HttpExchange, HttpRequestHead, ResponseHeaders } from "../exchange.ts";
import type { HttpRefusal } from "./refusal.ts";

/** Options for pages of other origins that call the endpoint from a browser. */
export interface CorsOptions {
  /** Request headers that browsers may send in addition to those of MCP. */
  headers?: readonly string[];
  /** Response headers that pages may read in addition to those of MCP. */
  exposedHeaders?: readonly string[];
  /** Whether browsers may send cookies and client certificates. Not possible with `allowedOrigins: "any"`. Default: false. */
  credentials?: boolean;
  /** Seconds for which a browser may cache the response to a preflight. Default: 7,200. */
  maxAge?: number;
}

/** Options of a server over HTTP. A server on loopback needs none. */
export interface HttpOptions {
  /** Path of the endpoint, with or without a slash at its end. Default: every path, for use behind a framework's router. */
  path?: string;
  /**
   * Names in `Host` that are accepted in addition to loopback names, as `example.com` (any port) or `example.com:8080`.
   *
   * Without this check a web page can point its domain at this machine and call the server (DNS rebinding). `"any"` turns
   * the check off. Use it only if a proxy checks the name.
   */
  allowedHosts?: readonly string[] | "any";
  /** Origins of web pages that may call, as `https://app.example.com`, in addition to the server's own and loopback origins. */
  allowedOrigins?: readonly string[] | "any";
  /** Allows web pages of the allowed origins to read responses. Default: false. */
  cors?: boolean | CorsOptions;
  /**
   * Authenticates requests: `protectedResource` of `mcparley/auth`, or a custom function that returns the caller of a
   * request. Default: none, and anyone may call.
   *
   * In a list, such as `[protectedResource({ ... }), apiKeys([...])]`, one entry checks each request: the first whose `match` is
   * `"certain"`, otherwise the first whose `match` is `"possible"`. A request without a credential for any of them, or with one that is
   * refused, is answered with 401 and the challenges of all, in their order.
   */
  auth?: HttpServerAuth | Authenticate | readonly HttpServerAuth[];
  /** Maximum size of a request's body in bytes. It also applies to a body that a framework has parsed. Default: 4 MiB. */
  maxBody?: number;
  /**
   * Milliseconds for the body of a request to arrive. A slower one is answered with 408 and its connection is closed.
   * Default: 30,000.
   */
  bodyTimeout?: number;
  /**
   * Milliseconds after which a connection is closed and reported, if a reply or a stream waits for the client and it has read nothing.
   * Buffers of the operating system hide up to 2 MiB of what a client reads. With `toFetch` it applies to event streams only, because the
   * platform sends other replies. Default: 60,000.
   */
  readTimeout?: number;
  /**
   * The header in which a proxy in front of the server sends the client's IP address, such as `"x-forwarded-for"`,
   * `"cf-connecting-ip"` or `"forwarded"`. With more than one proxy, `hops` is the number of proxies. The limits of
   * sessions, streams and requests, and `rateLimit`, distinguish anonymous callers by this address. Default: none, and such
   * headers are ignored, because any client can send them.
   */
  trustProxy?: string | TrustedProxy;
  /**
   * Interval in milliseconds of the comments that keep an open stream alive. A response without a reply becomes a stream
   * after this time. Default: 5,000. Bun closes connections that are silent for about 10 seconds.
   */
  keepAlive?: number;
  /** Milliseconds that `close` waits for requests in flight. Default: 10,000. */
  closeTimeout?: number;
  /**
   * Answers liveness checks at `/healthz` and readiness checks at `/readyz`, or at the given paths. Default: on for `listen`,
   * off for other adapters.
   */
  health?: HealthOptions | boolean;
  /** Limits of the sessions of legacy revisions. `false` serves each legacy request without a session. Default: true. */
  sessions?: SessionOptions | boolean;
  /**
   * Also serves clients that use the HTTP+SSE transport of 2024-11-05, which open a stream at one path and post messages to
   * another. The revision is negotiated, up to 2025-11-25. `true` uses the paths `/sse` and `/messages`. Default: false.
   */
  legacySse?: boolean | LegacySseOptions;
  /** Storage of stream events, if the server has a `store`. */
  events?: EventOptions;
}

/** A header in which a trusted proxy sends the client's address. */
export interface TrustedProxy {
  /** Name of the header. */
  header: string;
  /** Which entry of the header counts, from the right: the number of trusted proxies. Default: 1. */
  hops?: number;
}

/** Paths of the health checks. */
export interface HealthOptions {
  /** Path of the liveness check. Default: `/healthz`. */
  live?: string;
  /** Path of the readiness check. Default: `/readyz`. */
  ready?: string;
}

/** Limits of the sessions of legacy revisions. */
export interface SessionOptions {
  /**
   * Idle time in milliseconds after which a session expires. A session is idle while it receives no request, has no call in
   * flight and has no open stream. Default: 30 minutes.
   */
  idle?: number;
  /**
   * Maximum number of open sessions. At the limit, a new session displaces a session that is idle for more than 10 s, the
   * longest idle of the callers with the most sessions. If none is idle, it displaces a newcomer, which was opened in the last
   * 10 s and is not in use, of the caller with the most newcomers. A caller that has fewer sessions than the new caller would
   * have loses none. If there is no such session, `initialize` is answered with 503. Default: 10,000.
   */
  max?: number;
  /**
   * Maximum number of characters that all sessions of a process store for their clients. Above it, sessions are displaced as
   * at `max`. Default: 67,108,864.
   */
  totalSize?: number;
  /** Milliseconds after which a session ends whose client sends nothing after `initialize`. Default: 30,000. */
  handshake?: number;
}

/** Options for event streams that a client can resume. */
export interface EventOptions {
  /** Milliseconds after its last event for which a stream can be resumed. Default: 5 minutes. */
  ttl?: number;
  /** Maximum number of stored events per stream. The oldest are dropped, and a resuming client misses them. Default: 1,000. */
  maxLength?: number;
  /** Milliseconds that the server asks clients to wait before they reconnect. Default: 1,000. */
  retry?: number;
  /**
   * Milliseconds after which the server closes the connection of a stream, if the revision allows clients to reconnect for
   * the rest (2025-11-25). Use it for proxies and platforms that end long responses. Default: no limit.
   */
  maxStream?: number;
}

/** Options for clients that use the HTTP+SSE transport of 2024-11-05. */
export interface LegacySseOptions {
  /** Path at which clients open streams. Default: `/sse`. */
  path?: string;
  /** Path to which clients post messages. The server serves this path and sends it to clients. Default: `/messages`. */
  messages?: string;
}

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

/**
 * How a credential fits an authentication. `certain`: no other one can check it, such as a known API key. `possible`: it has the right
 * form, such as a token in the `Authorization` header.
 */
export type CredentialMatch = "certain" | "possible";

/** The authentication of an endpoint. `protectedResource` of `mcparley/auth` makes one for OAuth. */
export interface HttpServerAuth {
  /** Verifies the credentials of each request before its body is read. See `Authenticate`. */
  readonly authenticate: Authenticate;
  /**
   * Returns the public document at a path, such as the metadata that names the authorization server. Undefined if there is
   * none. It is called before the checks of `Host` and `Origin`, so it must depend only on the request's method and path.
   */
  document?(request: HttpRequestHead): PublicResponse | undefined;
  /**
   * Returns the `WWW-Authenticate` for a caller without the required scopes. `scopes` contains all of them. Undefined for a
   * challenge with the scheme Bearer and the scopes.
   */
  challenge?(scopes: readonly string[], request: HttpRequestHead): string | undefined;
  /**
   * Returns how the credential of a request fits this authentication, for an endpoint with a list of several. Undefined if the
   * request has none for it. Required in a list.
   */
  match?(request: HttpRequestHead): Awaitable<CredentialMatch | undefined>;
  /** Called by `listen` with the URL of the endpoint, before the first request. Other adapters refuse such an `auth`. */
  listening?(url: string): void;
}
