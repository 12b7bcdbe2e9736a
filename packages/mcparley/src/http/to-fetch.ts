import { type Server, coreOf } from "../server/create-server.ts";
import { Endpoint } from "./server/endpoint.ts";
import { FetchExchange } from "./fetch-exchange.ts";
import type { HttpOptions } from "./server/options.ts";

/** A server in the form that Workers, Bun, Deno, Hono and others accept. */
export interface FetchHandler {
  /** Answers one request. It never rejects. */
  fetch(this: void, request: Request): Promise<Response>;
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
    fetch(request) {
      const exchange = new FetchExchange(request);
      void answer(exchange);
      return exchange.response;
    },
    drain: () => endpoint.drain(),
    close: () => endpoint.close(),
  };
}
