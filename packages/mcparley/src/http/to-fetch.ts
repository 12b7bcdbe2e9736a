import { type Server, coreOf } from "../server/create-server.ts";
import { Endpoint } from "./server/endpoint.ts";
import type { Platform, RequestOptions } from "./exchange.ts";
import { FetchExchange } from "./fetch-exchange.ts";
import type { HttpOptions } from "./server/options.ts";

/** Answers one request of a platform or framework. */
export interface FetchFunction {
  (this: void, request: Request, options: RequestOptions): Promise<Response>;
  (this: void, request: Request, environment: unknown, platform: Platform): Promise<Response>;
  (this: void, request: Request): Promise<Response>;
}

/** A server in the form that Workers, Bun, Deno, Hono and others accept. */
export interface FetchHandler {
  /**
   * Answers one request. It never rejects.
   *
   * Workers pass their environment and a context with `waitUntil`, which keeps tasks running after the response. A
   * `principal` of the second argument is used, also if it is an environment.
   */
  fetch: FetchFunction;
  /** Ends streams and opens no new streams or sessions. Settles when nothing is in flight, or after `closeTimeout`. */
  drain(this: void): Promise<void>;
  /** Drains, refuses new requests, and then ends the sessions. */
  close(this: void): Promise<void>;
}

/**
 * Serves a server on runtimes and frameworks that use web `Request` objects: `export default toFetch(server)`.
 *
 * Without `allowedHosts`, a request over plain http must name a loopback host.
 */
export function toFetch(server: Server<any, any, any, any>, options: HttpOptions = {}): FetchHandler {
  const endpoint = new Endpoint(coreOf(server), options);
  const { health } = options;
  // Loaded only if the option is set. Platforms with `fetch` handlers rarely need it, and it is 0.3 KB of the bundle.
  const loadingHealth = health && import("./server/health.ts").then(({ makeHealth }) => makeHealth(endpoint, health));
  const answer = async (exchange: FetchExchange): Promise<void> => {
    const isHealthCheck = loadingHealth && (await loadingHealth)(exchange);
    if (!isHealthCheck) await endpoint.handle(exchange);
  };
  return {
    fetch(request: Request, options?: any, platform?: Platform) {
      const exchange = new FetchExchange(request, options, platform);
      // The call of a legacy client continues after the client has disconnected.
      exchange.waitUntil(answer(exchange));
      return exchange.response;
    },
    drain: () => endpoint.drain(),
    close: () => endpoint.close(),
  };
}
