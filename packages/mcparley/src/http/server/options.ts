import type { Authenticate, HttpServerAuth } from "./server-auth.ts";

/** Options for pages of other origins that call the endpoint from a browser. */
export interface CorsOptions {
  /** Request headers that browsers may send beside MCP's own. */
  headers?: readonly string[];
  /** Response headers that pages may read beside MCP's own. */
  exposedHeaders?: readonly string[];
  /** Whether cookies and client certificates may be sent along. False unless given. */
  credentials?: boolean;
  /** Seconds for which a browser may keep the answer to a preflight. 7,200 unless given. */
  maxAge?: number;
}

/** How a server is served over HTTP. Nothing is needed for a server on loopback. */
export interface HttpOptions {
  /** The path of the endpoint, with or without a slash at its end. Every path unless given: routing is then the framework's. */
  path?: string;
  /**
   * The names in `Host` that are answered beside loopback ones, as `example.com` (any port) or `example.com:8080`.
   *
   * Without the check a web page that points its own name at this machine can talk to the server (DNS rebinding).
   * `"any"` turns it off, for where a proxy checks the name.
   */
  allowedHosts?: readonly string[] | "any";
  /** The origins of web pages that may call, as `https://app.example.com`, beside the server's own and loopback ones. */
  allowedOrigins?: readonly string[] | "any";
  /** Lets web pages of the allowed origins read answers. Off unless given. */
  cors?: boolean | CorsOptions;
  /**
   * Who may call: `protectedResource` of `mcparley/auth`, or a function of one's own that says who a request comes from.
   * Anyone unless given.
   */
  auth?: HttpServerAuth | Authenticate;
  /** Bytes of a request's body, also where a framework parsed it. 4 MiB unless given. */
  maxBody?: number;
  /**
   * Milliseconds for the body of a request to arrive. A slower one is answered with 408 and its connection is closed.
   * Default: 30,000.
   */
  bodyTimeout?: number;
  /**
   * The header in which a proxy in front of the server sends the client's IP address, such as `"x-forwarded-for"`,
   * `"cf-connecting-ip"` or `"forwarded"`. With more than one proxy, `hops` is the number of proxies. Shares of sessions,
   * streams and requests, and `rateLimit`, tell anonymous callers apart by this address. Default: none, and such headers
   * are ignored, because any client can send them.
   */
  trustProxy?: string | TrustedProxy;
  /**
   * Milliseconds after which an answer that has said nothing becomes a stream, and between the comments that keep a
   * silent stream open. 15,000 unless given.
   */
  keepAlive?: number;
  /** Milliseconds that `close` gives to what is in flight. 10,000 unless given. */
  closeTimeout?: number;
  /**
   * Answers platforms that ask whether the process lives, and whether to send it requests: at `/healthz` and `/readyz` unless
   * other paths are given. On for `listen`, off for others unless given.
   */
  health?: HealthOptions | boolean;
  /** What clients of legacy revisions get; `false` serves each of their requests by itself. */
  sessions?: SessionOptions | boolean;
  /**
   * Serves clients of 2024-11-05 as well, which open a stream at one path and post messages to another: the first is
   * `/sse` and the second `/messages` unless given. Off unless given.
   */
  legacySse?: boolean | LegacySseOptions;
  /** How the events of streams are kept, if the server has a `store`. */
  events?: EventOptions;
}

/** A header in which a trusted proxy passes on the client's address. */
export interface TrustedProxy {
  /** Name of the header. */
  header: string;
  /** Which entry of the header counts, from the right: the number of trusted proxies. Default: 1. */
  hops?: number;
}

export interface HealthOptions {
  /** Where it is asked whether the process lives. `/healthz`. */
  live?: string;
  /** Where it is asked whether to send it requests. `/readyz`. */
  ready?: string;
}

/** Limits of the sessions of legacy revisions. */
export interface SessionOptions {
  /** Milliseconds without a request, a call in flight or an open stream after which a session is forgotten. 30 minutes. */
  idle?: number;
  /**
   * Sessions at a time. If there are as many, a new one displaces an unused or idle session of a caller that holds at least
   * as many as the new caller; without such a session `initialize` is answered with 503. Default: 10,000.
   */
  max?: number;
  /**
   * Characters that all sessions of a process keep of their clients. Above it, sessions give way as if there were `max` of
   * them. Default: 67,108,864.
   */
  totalSize?: number;
  /** Milliseconds after which a session ends whose client sends nothing after `initialize`. Default: 30,000. */
  handshake?: number;
}

/** Options for event streams that a client can resume. */
export interface EventOptions {
  /** Milliseconds after its last event for which a stream can be taken up again. 5 minutes. */
  ttl?: number;
  /** Events of a stream that are kept; of a longer one the oldest are dropped, and a client that comes back misses them. 1,000. */
  maxLength?: number;
  /** Milliseconds that clients are told to wait before they come back. 1,000. */
  retry?: number;
  /**
   * Milliseconds for which one connection is held, where the revision lets clients come back for the rest (2025-11-25):
   * for proxies and platforms that end long responses. No limit unless given.
   */
  maxStream?: number;
}

/** Options for clients of 2024-11-05, which use the HTTP+SSE transport. */
export interface LegacySseOptions {
  /** Where streams are opened. `/sse`. */
  path?: string;
  /** Where messages are posted: as it is on this server, and as clients are told it. `/messages`. */
  messages?: string;
}
