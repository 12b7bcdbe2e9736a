import { sendGuarded } from "#guarded-send";
import { discard, readText } from "../../http/client/response.ts";
import { unreachable } from "../../http/client/connection-error.ts";
import { type HttpConnection, nameOf } from "../../http/client/settings.ts";
import { isSecureUrl } from "../../net/loopback.ts";
import { isPrivateHost } from "../../net/private-address.ts";
import { linkWithin } from "../../rpc/abort.ts";
import { type Clock, systemClock } from "../../rpc/clock.ts";
import { LocalError } from "../../rpc/errors.ts";

interface GuardedFetchOptions {
  /** Whether hosts of private networks may be reached, because the MCP server is on one itself. */
  allowPrivate: boolean;
  /** Sends the requests, for example through a proxy. It decides to which addresses names resolve. */
  fetch?: typeof fetch | undefined;
  /** The proxy and the certificates, if there is no `fetch`. */
  connection?: HttpConnection | undefined;
  /** The MCP server on whose behalf the requests are sent. A client certificate is sent only to its origin. */
  server?: URL | undefined;
  clock?: Clock | undefined;
  /** Milliseconds for one request, its redirects and its body. Default: 15,000. */
  timeout?: number;
}

export interface GuardedInit {
  method?: string;
  headers?: Readonly<Record<string, string>>;
  body?: string | URLSearchParams | null | undefined;
  signal?: AbortSignal;
}

/** Sends a request to a URL that another server chose. The body of the response has already been read. */
export type GuardedFetch = (url: string, init?: GuardedInit) => Promise<Response>;

const MAX_HOPS = 3;
const MAX_BODY = 1_048_576;
const TIMEOUT_MS = 15_000;

/**
 * Makes the `fetch` for all authorization requests, whose URLs come from servers that are not trusted.
 *
 * Only https is allowed, and http to this machine. Private networks are refused unless `allowPrivate` is set: literal
 * addresses and local names on every runtime, and on Node also the resolved address of each connection that uses no proxy. A
 * GET follows up to 3 redirects within its origin. No other redirect is followed, because it would forward credentials. A body has at
 * most 1 MiB.
 *
 * The `fetch` rejects with `LocalError`: `forbidden_url` for a refused URL or redirect, `unreachable` and `timeout` without
 * a response, `too_large`; or with the reason of `init.signal`.
 */
export function makeGuardedFetch(options: GuardedFetchOptions): GuardedFetch {
  const { clock = systemClock, timeout = TIMEOUT_MS } = options;
  return async (href, init = {}) => {
    const url = new URL(href);
    const message = `${url.host} did not respond to an authorization request within ${timeout} ms.`;
    const { signal, unlink } = linkWithin({ clock, ms: timeout, message }, init.signal);
    try {
      return await readWhole(url, await follow(url, { ...init, signal }, options));
    } catch (error) {
      throw signal.aborted ? signal.reason : error;
    } finally {
      unlink();
    }
  };
}

/** Throws `LocalError` `forbidden_url` for a URL to which no authorization request may be sent. */
export function checkUrl(url: URL, allowPrivate: boolean): void {
  if (!isSecureUrl(url)) {
    throw urlError(url, "it must be https, or http on a loopback address.");
  }
  if (url.username !== "" || url.password !== "") throw urlError(url, "it contains a user or a password.");
  if (allowPrivate || !isPrivateHost(url.hostname)) return;
  throw urlError(
    url,
    "it is on a private network, and the MCP server is not. Set allowPrivateNetwork: true if this is intended.",
  );
}

type SignalledInit = GuardedInit & { signal: AbortSignal };

async function follow(start: URL, init: SignalledInit, options: GuardedFetchOptions): Promise<Response> {
  let url = start;
  for (let hops = 0; ; hops++) {
    checkUrl(url, options.allowPrivate);
    const response = await send(url, init, options);
    const { type, status, headers } = response;
    const isRedirect = type === "opaqueredirect" || [301, 302, 303, 307, 308].includes(status);
    if (!isRedirect) return response;
    discard(response);
    const location = headers.get("location");
    const target = location !== null && URL.canParse(location, url.href) ? new URL(location, url) : undefined;
    if ((init.method ?? "GET") !== "GET" || target?.origin !== url.origin || hops >= MAX_HOPS) {
      // Only the origin is shown: the rest of the URL may contain the secrets that were sent.
      const destination = target ? ` to ${target.origin}` : "";
      const why = hops >= MAX_HOPS ? `more than ${MAX_HOPS} times` : "which is not followed";
      throw new LocalError("forbidden_url", `${nameOf(url)} redirects an authorization request${destination}, ${why}.`);
    }
    url = target;
  }
}

async function send(url: URL, init: SignalledInit, options: GuardedFetchOptions): Promise<Response> {
  const { fetch, allowPrivate } = options;
  const { method = "GET", headers = {}, signal } = init;
  const body = init.body?.toString();
  const request = { method, headers, signal };
  try {
    if (fetch) return await fetch(url, { ...request, redirect: "manual", ...(body !== undefined && { body }) });
    return await sendGuarded(url, { ...request, body, allowPrivate, connection: connectionTo(url, options) });
  } catch (error) {
    if (signal.aborted || error instanceof LocalError) throw error;
    throw unreachable(url, error);
  }
}

/** Returns the connection settings for a URL, without the client certificate if the URL is not of the MCP server's origin. */
function connectionTo({ origin }: URL, { connection, server }: GuardedFetchOptions): HttpConnection | undefined {
  if (!connection || origin === server?.origin) return connection;
  const { proxy, ca } = connection;
  return { proxy, ca };
}

/** Reads the body, so that the limits on size and time also apply to it. */
async function readWhole(url: URL, response: Response): Promise<Response> {
  const { status, headers } = response;
  const text = await readText(response, MAX_BODY).catch((error: unknown) => {
    // The connection has ended within the body.
    if (!(error instanceof LocalError)) throw unreachable(url, error);
    const message = `The response to an authorization request has more than ${MAX_BODY} bytes.`;
    throw new LocalError("too_large", message, { data: { status } });
  });
  return new Response(text === "" ? null : text, { status, headers });
}

function urlError(url: URL, why: string): LocalError {
  return new LocalError("forbidden_url", `No authorization request is sent to ${nameOf(url)}: ${why}`);
}
