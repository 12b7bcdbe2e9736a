import type { Exchange } from "../exchange.ts";
import type { HealthOptions } from "./options.ts";

/** Answers a request that asks how the process is, and says whether it was one. */
export type Health = (exchange: Exchange) => boolean;

/** What is asked how it is. */
export interface Asked {
  /** Whether requests may be sent to it; a process that drains would rather have none. */
  readonly isReady: boolean;
}

const headers = { "content-type": "application/json", "cache-control": "no-store" };

/**
 * Makes what answers a platform that asks whether the process lives (200 for as long as it can answer), and whether to
 * send it requests (200, and 503 once it drains).
 *
 * It answers whatever the `Host`, since platforms ask by address, and tells nothing else. A store that is out of reach is
 * no reason not to be ready: all processes would go at once.
 */
export function makeHealth(asked: Asked, options: HealthOptions | true): Health {
  const { live = "/healthz", ready = "/readyz" } = options === true ? {} : options;
  return (exchange) => {
    const { method, path } = exchange;
    if ((path !== live && path !== ready) || (method !== "GET" && method !== "HEAD")) return false;
    if (path === live) exchange.respond(200, headers, '{"status":"alive"}');
    else if (asked.isReady) exchange.respond(200, headers, '{"status":"ready"}');
    else exchange.respond(503, { ...headers, "retry-after": "1" }, '{"status":"draining"}');
    return true;
  };
}
