import { isLoopback } from "../../net/loopback.ts";
import type { RequestHead } from "../exchange.ts";
import { HttpRefusal, shown } from "./refusal.ts";

export interface GuardOptions {
  allowedHosts?: readonly string[] | "any" | undefined;
  allowedOrigins?: readonly string[] | "any" | undefined;
  /** The name or address that the server was bound to. Undefined if it is unknown. */
  boundHost?: string | undefined;
}

/** Checks the `Host` and the `Origin` of a request before its other parts. Throws a refusal of 403. */
export type Guard = (request: RequestHead) => void;

/** Addresses that stand for all interfaces of a machine. They name no host. */
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
  if (boundHost !== undefined && !wildcards.has(boundHost)) hosts.add(nameOf(boundHost));
  const origins = new Set(allowedOrigins === "any" ? [] : allowedOrigins?.map(normalOrigin));
  let known: string | undefined;

  function checkHost(request: RequestHead): string {
    const host = request.header("host") ?? "";
    if (host === known) return host;
    const name = hostname(host);
    const isKnown = name !== undefined && (isLoopback(name) || hosts.has(name) || hosts.has(host.toLowerCase()));
    if (isKnown || allowedHosts === "any" || (request.secure && allowedHosts === undefined)) {
      known = host;
      return host;
    }
    const cure = "Add it to the server's allowedHosts option if it is a name of this server.";
    throw new HttpRefusal(403, `The Host "${shown(host)}" is not served here. ${cure}`);
  }

  return (request) => {
    const host = checkHost(request);
    const origin = request.header("origin");
    if (origin === undefined || allowedOrigins === "any" || origins.has(origin.toLowerCase())) return;
    if (isSameOrLoopback(origin, host)) return;
    const cure = "Add it to the server's allowedOrigins option if its pages may use this server.";
    throw new HttpRefusal(403, `The Origin "${shown(origin)}" may not use this server. ${cure}`);
  };
}

/** Returns a bound address in the form that URLs use. */
function nameOf(boundHost: string): string {
  return boundHost.includes(":") ? `[${boundHost.toLowerCase()}]` : boundHost.toLowerCase();
}

/** Removes a slash at the end. An origin has no path, but is often copied from a URL together with the slash. */
function normalOrigin(origin: string): string {
  return origin.toLowerCase().replace(/\/$/, "");
}

/** Whether an origin is the host itself (a proxy may have ended its TLS), or both are on loopback. */
function isSameOrLoopback(origin: string, host: string): boolean {
  if (!URL.canParse(origin)) return false;
  const url = new URL(origin);
  if (url.host === host.toLowerCase()) return true;
  const name = hostname(host);
  return name !== undefined && isLoopback(name) && isLoopback(url.hostname);
}

/** Returns the name in a `Host` header, in lower case and without its port. Undefined if the header is invalid. */
function hostname(host: string): string | undefined {
  return /^(\[[0-9a-f:.]+\]|[^:[\]/@?#\s]+)(?::\d+)?$/i.exec(host)?.[1]?.toLowerCase();
}
