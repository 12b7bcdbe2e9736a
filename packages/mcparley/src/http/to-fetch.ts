import { type Server, coreOf } from "../server/server.ts";
import { Endpoint } from "./endpoint.ts";
import { FetchExchange } from "./fetch-exchange.ts";
import type { HttpOptions } from "./options.ts";

/** A server as Workers, Bun, Deno, Hono and others take it. */
export interface FetchHandler {
  /** Answers one request. It never rejects. */
  fetch(this: void, request: Request): Promise<Response>;
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
  return {
    fetch(request) {
      const exchange = new FetchExchange(request);
      endpoint.handle(exchange);
      return exchange.response;
    },
    close: () => endpoint.close(),
  };
}
