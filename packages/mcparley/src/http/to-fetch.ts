import { type Server, coreOf } from "../server/create-server.ts";
import { Endpoint } from "./server/endpoint.ts";
import { FetchExchange } from "./fetch-exchange.ts";
import type { HttpOptions } from "./server/options.ts";

/** A server as Workers, Bun, Deno, Hono and others take it. */
export interface FetchHandler {
  /** Answers one request. It never rejects. */
  fetch(this: void, request: Request): Promise<Response>;
  /** Ends streams and opens no more, and no sessions; settles when nothing is in flight, or after `closeTimeout`. */
  drain(this: void): Promise<void>;
  /** Ends streams and sessions, after what is in flight has been answered. */
  close(this: void): Promise<void>;
}

/**
 * Serves a server wherever requests come as web `Request`s: `export default toFetch(server)`.
 *
 * Over plain http only loopback names are answered unless `allowedHosts` is given.
 */
export function toFetch(server: Server<any, any, any>, options: HttpOptions = {}): FetchHandler {
  const endpoint = new Endpoint(coreOf(server), options);
  const { health } = options;
  // Loaded only for the option, which platforms with `fetch` handlers rarely need: it is 0.3 KB of the bundle.
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
