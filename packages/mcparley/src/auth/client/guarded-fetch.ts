import { sendGuarded } from "#guarded-send";
import { discard, readText } from "../../http/client/response.ts";
import { unreachable } from "../../http/client/send.ts";
import { nameOf } from "../../http/client/settings.ts";
import { type Clock, systemClock } from "../../rpc/clock.ts";
import { LocalError } from "../../rpc/errors.ts";
import { isLoopbackHost, isPrivateHost } from "./private-address.ts";

export interface GuardedFetchOptions {
  /** Whether hosts of private networks may be reached: only where the MCP server is on one itself. */
  allowPrivate: boolean;
  /** What sends the requests, such as one that goes through a proxy; which addresses it reaches is up to it. */
  fetch?: typeof fetch | undefined;
  clock?: Clock | undefined;
  /** Milliseconds for one request, its redirects and its body. 15,000. */
  timeout?: number;
}

export interface GuardedInit {
  method?: string;
  headers?: Readonly<Record<string, string>>;
  body?: string | URLSearchParams | null | undefined;
  signal?: AbortSignal;
}

/** Sends a request to an address that somebody else chose. The body of the response is read already. */
export type GuardedFetch = (url: string, init?: GuardedInit) => Promise<Response>;

const MAX_HOPS = 3;
const MAX_BODY = 1_048_576;
const TIMEOUT_MS = 15_000;

/**
 * Makes the `fetch` for every request of authorization, whose addresses come from servers that are not trusted.
 *
 * Only https is spoken, and http with this machine. Private networks are refused unless allowed: literal addresses and
 * local names everywhere, on Node every address at the moment of connecting. A GET follows redirects within its origin, at
 * most 3; nothing else does, as it would carry credentials away. A body has at most 1 MiB.
 *
 * What it makes throws `LocalError`: `forbidden_url` for an address or a redirect that is refused, `unreachable`
 * and `timeout` where there is no answer, `too_large`; and the reason of `init.signal` where that ended it.
 */
export function makeGuardedFetch(options: GuardedFetchOptions): GuardedFetch {
  const { clock = systemClock, timeout = TIMEOUT_MS } = options;
  return async (given, init = {}) => {
    const url = new URL(given);
    const controller = new AbortController();
    const stop = (): void => controller.abort(init.signal?.reason);
    if (init.signal?.aborted) stop();
    init.signal?.addEventListener("abort", stop, { once: true });
    const timer = clock.setTimeout(() => controller.abort(tooLate(url, timeout)), timeout);
    const { signal } = controller;
    try {
      return await readWhole(await follow(url, { ...init, signal }, options));
    } catch (error) {
      throw signal.aborted ? signal.reason : error;
    } finally {
      clock.clearTimeout(timer);
      init.signal?.removeEventListener("abort", stop);
    }
  };
}

/** Throws `LocalError` `forbidden_url` for a URL that no request of authorization may go to. */
export function checkAddress(url: URL, allowPrivate: boolean): void {
  const isLocal = isLoopbackHost(url.hostname);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLocal)) {
    throw refused(url, "it is not https, which only addresses of this machine may do without.");
  }
  if (url.username !== "" || url.password !== "") throw refused(url, "it holds a user or a password.");
  if (allowPrivate || !isPrivateHost(url.hostname)) return;
  throw refused(
    url,
    "it is on a private network, while the MCP server is not. Give allowPrivateNetwork: true if that is meant to be.",
  );
}

type Sent = GuardedInit & { signal: AbortSignal };

async function follow(given: URL, init: Sent, options: GuardedFetchOptions): Promise<Response> {
  let url = given;
  for (let hops = 0; ; hops++) {
    checkAddress(url, options.allowPrivate);
    const response = await send(url, init, options);
    if (!isRedirect(response)) return response;
    discard(response);
    url = redirected(response, url, hops, init.method ?? "GET");
  }
}

async function send(url: URL, init: Sent, { fetch, allowPrivate }: GuardedFetchOptions): Promise<Response> {
  const { method = "GET", headers = {}, signal } = init;
  const body = init.body?.toString();
  try {
    if (!fetch) return await sendGuarded(url, { method, headers, body, allowPrivate, signal });
    return await fetch(url, { method, headers, signal, redirect: "manual", ...(body !== undefined && { body }) });
  } catch (error) {
    if (signal.aborted || error instanceof LocalError) throw error;
    throw unreachable(url, error);
  }
}

/** The requests of authorization carry forms and JSON: what else a body can be is not among them. */

function isRedirect({ type, status }: Response): boolean {
  return type === "opaqueredirect" || [301, 302, 303, 307, 308].includes(status);
}

function redirected(response: Response, from: URL, hops: number, method: string): URL {
  const location = response.headers.get("location");
  const to = location !== null && URL.canParse(location, from.href) ? new URL(location, from) : undefined;
  if (method === "GET" && to?.origin === from.origin && hops < MAX_HOPS) return to;
  // No more than the origin: the rest may be what was sent, with the secrets in it.
  const where = to ? ` to ${to.origin}` : "";
  const why = hops >= MAX_HOPS ? `more than ${MAX_HOPS} times` : "which is not followed";
  throw new LocalError("forbidden_url", `${nameOf(from)} redirects${where}, ${why}.`);
}

/** A response that holds its body, so that the limits on size and time are behind its reader. */
async function readWhole(response: Response): Promise<Response> {
  const { status, headers } = response;
  const text = await readText(response, MAX_BODY).catch(tooLarge);
  return new Response(text === "" ? null : text, { status, headers });
}

function tooLarge(error: unknown): never {
  if (!(error instanceof LocalError) || error.code !== "too_large") throw error;
  throw new LocalError("too_large", `A response of authorization has more than ${MAX_BODY} bytes.`);
}

function refused(url: URL, why: string): LocalError {
  return new LocalError("forbidden_url", `${nameOf(url)} is refused in authorization: ${why}`);
}

function tooLate(url: URL, ms: number): LocalError {
  return new LocalError("timeout", `${url.host} did not answer a request of authorization within ${ms} ms.`);
}
