import type { SecureContext } from "node:tls";
import type { HttpConnection } from "../../http/client/settings.ts";
import { secureContextOf } from "./certificates.ts";
import { type Environment, type Proxy, proxyFor } from "./proxy.ts";

/** The proxy and the certificates of connections to an origin. */
export interface Route {
  /** Undefined for a direct connection. */
  readonly proxy: Proxy | undefined;
  /** The certificates for an https URL. Undefined for the defaults of Node. */
  readonly tls: SecureContext | undefined;
  /** The certificates for an https proxy. Undefined for the defaults of Node. */
  readonly proxyTls: SecureContext | undefined;
}

/** A route through a proxy. */
export interface ProxyRoute extends Route {
  readonly proxy: Proxy;
}

/**
 * Returns the proxy and the certificates for connections to the origin of a URL.
 *
 * Throws `LocalError` `invalid_target` for settings that cannot be used.
 */
export function routeTo(url: URL, connection: HttpConnection = {}, env: Environment = process.env): Route {
  return routeThrough(proxyFor(url, connection.proxy, env), connection, env);
}

/** Returns the certificates for connections through a proxy. A client certificate is for the URL and never for the proxy. */
export function routeThrough<P extends Proxy | undefined>(
  proxy: P,
  connection: HttpConnection,
  env: Environment,
): Route & { readonly proxy: P } {
  const isSecureProxy = proxy?.url.protocol === "https:";
  return {
    proxy,
    tls: secureContextOf(connection, env),
    proxyTls: isSecureProxy ? secureContextOf({ ca: connection.ca }, env) : undefined,
  };
}

/** Returns whether a route has a proxy. */
export function hasProxy(route: Route): route is ProxyRoute {
  return route.proxy !== undefined;
}
