import type { HttpExchange } from "../exchange.ts";
import type { HealthOptions } from "./options.ts";

/** Answers a health check. Returns false for any other request. */
type Health = (exchange: HttpExchange) => boolean;

const headers = { "content-type": "application/json", "cache-control": "no-store" };

/**
 * Makes the handler of health checks. Liveness is always 200. Readiness is 200, or 503 when the process drains.
 *
 * The handler accepts any `Host`, because platforms send the checks to an address, and it reveals nothing else. An
 * unavailable store does not affect readiness: otherwise all processes would become unready at once.
 */
export function makeHealth(endpoint: { readonly isReady: boolean }, options: HealthOptions | true): Health {
  const { live = "/healthz", ready = "/readyz" } = options === true ? {} : options;
  return (exchange) => {
    const { method, path } = exchange;
    if ((path !== live && path !== ready) || (method !== "GET" && method !== "HEAD")) return false;
    if (path === live) exchange.respond(200, headers, '{"status":"alive"}');
    else if (endpoint.isReady) exchange.respond(200, headers, '{"status":"ready"}');
    else exchange.respond(503, { ...headers, "retry-after": "1" }, '{"status":"draining"}');
    return true;
  };
}
