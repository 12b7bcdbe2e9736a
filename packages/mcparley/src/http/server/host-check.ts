import { isLoopback } from "../../net/loopback.ts";
import type { RequestHead } from "../exchange.ts";
import { HttpRefusal, shown } from "./refusal.ts";

export interface GuardOptions {
  allowedHosts?: readonly string[] | "any" | undefined;
  allowedOrigins?: readonly string[] | "any" | undefined;
  /** The name or address that the server was bound to, where it is known. */
  boundHost?: string | undefined;
}

/** Checks the `Host` and the `Origin` of a request, before anything else of it is looked at. Throws a refusal of 403. */
export type Guard = (request: RequestHead) => void;

/** Addresses that stand for all of a machine, and so for no name in particular. */
const wildcards: ReadonlySet<string> = new Set(["0.0.0.0", "::", ""]);

/**
 * Makes the guard against DNS rebinding and foreign web pages (2026-07-28, Streamable HTTP, "Security & Endpoint").
 *
 * A rebound name reaches this machine but keeps its own name in `Host`, so only known names are answered: loopback
 * ones, the one that the server is bound to, and those allowed. A certificate has checked the name already where the
 * request came over TLS.
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

/** How a bound address is written in a URL. */
function nameOf(boundHost: string): string {
  return boundHost.includes(":") ? `[${boundHost.toLowerCase()}]` : boundHost.toLowerCase();
}

/** An origin has no path, yet it is often copied with the slash at the end of a URL. */
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

/** The name in a `Host` header, in lower case and without its port; undefined for what is none. */
function hostname(host: string): string | undefined {
  return /^(\[[0-9a-f:.]+\]|[^:[\]/@?#\s]+)(?::\d+)?$/i.exec(host)?.[1]?.toLowerCase();
}
