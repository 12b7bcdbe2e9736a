import { isLoopback } from "../../net/loopback.ts";
import type { HttpRequestHead } from "../exchange.ts";

interface GuardOptions {
  allowedHosts?: readonly string[] | "any" | undefined;
  allowedOrigins?: readonly string[] | "any" | undefined;
  /** The name or address that the server was bound to. Undefined if it is unknown. */
  boundHost?: string | undefined;
}

/** The header of a request whose value is not allowed. */
export type ForeignHeader = "host" | "origin";

/** Checks the `Host` and the `Origin` of a request before anything else is read. Returns the one that is not allowed. */
export type Guard = (request: HttpRequestHead) => ForeignHeader | undefined;

/** Addresses of all interfaces of a machine. They name no host. */
const wildcards: ReadonlySet<string> = new Set(["0.0.0.0", "::", ""]);

/**
 * Makes the guard against DNS rebinding and foreign web pages (2026-07-28, Streamable HTTP, "Security & Endpoint").
 *
 * A request to a rebound name reaches this machine with that name in `Host`. The guard therefore accepts only loopback
 * names, the name that the server is bound to, and `allowedHosts`. Over TLS the certificate has verified the name, so
 * without `allowedHosts` any name is accepted.
 */
export function makeGuard({ allowedHosts, allowedOrigins, boundHost }: GuardOptions): Guard {
  const hosts = new Set(allowedHosts === "any" ? [] : allowedHosts?.map((host) => host.toLowerCase()));
  if (boundHost !== undefined && !wildcards.has(boundHost)) {
    const boundName = boundHost.toLowerCase();
    hosts.add(boundName.includes(":") ? `[${boundName}]` : boundName);
  }
  // An origin has no path, but is often copied from a URL together with the slash at its end.
  const originList = allowedOrigins === "any" ? [] : allowedOrigins;
  const origins = new Set(originList?.map((origin) => origin.toLowerCase().replace(/\/$/, "")));
  /** The last `Host` that was accepted for its name. One that was accepted only because of TLS is checked again in each request. */
  let acceptedHost: string | undefined;

  function isServed(host: string, { secure }: HttpRequestHead): boolean {
    if (host === acceptedHost) return true;
    const name = hostname(host);
    const isKnown = name !== undefined && (isLoopback(name) || hosts.has(name) || hosts.has(host.toLowerCase()));
    if (isKnown) acceptedHost = host;
    return isKnown || allowedHosts === "any" || (secure && allowedHosts === undefined);
  }

  return (request) => {
    const host = request.header("host") ?? "";
    if (!isServed(host, request)) return "host";
    const origin = request.header("origin");
    if (origin === undefined || allowedOrigins === "any" || origins.has(origin.toLowerCase())) return undefined;
    return isSameOrLoopback(origin, host) ? undefined : "origin";
  };
}

/**
 * Whether an origin is the host itself (a proxy may have ended its TLS), or both are on loopback. The texts are compared: a
 * URL parser would also accept texts that are no origins, such as `http://localhost\@example.com`.
 */
function isSameOrLoopback(origin: string, host: string): boolean {
  const originHost = /^[a-z][a-z\d+.-]*:\/\/(.+)$/i.exec(origin)?.[1] ?? "";
  const [page, name] = [hostname(originHost), hostname(host)];
  if (page === undefined || name === undefined) return false;
  return originHost.toLowerCase() === host.toLowerCase() || (isLoopback(page) && isLoopback(name));
}

/** Returns the name in a `Host` header, in lower case and without its port. Undefined if the header is invalid. */
function hostname(host: string): string | undefined {
  return /^(\[[0-9a-f:.]+\]|[^:[\]/\\@?#\s]+)(?::\d+)?$/i.exec(host)?.[1]?.toLowerCase();
}
