import { type Server, coreOf } from "../../server/create-server.ts";
import { Endpoint } from "../server/endpoint.ts";
import { makeHealth } from "../server/health.ts";
import { SharedTimer } from "../server/open-exchanges.ts";
import type { Platform, RequestOptions } from "../exchange.ts";
import { FetchExchange } from "./fetch-exchange.ts";
import type { HttpOptions } from "../server/options.ts";

/** Answers one request of a platform or framework: with options, or with the environment and the context of Workers. */
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
   * The second argument can be the options of the request, or the environment of Workers. In both cases its `principal` is
   * the caller of the request. The third argument is the context of Workers; its `waitUntil` keeps the process alive until a
   * call has ended.
   */
  fetch: FetchFunction;
  /** Ends streams and opens no new streams or sessions. Settles when nothing is in flight, or after `closeTimeout`. */
  drain(this: void): Promise<void>;
  /** Drains, refuses new requests, and then ends the sessions. */
  close(this: void): Promise<void>;
}

/**
 * Makes a handler for runtimes and frameworks that use web `Request` objects, such as Workers, Deno, Bun, Hono and Next.js.
 *
 * Without `allowedHosts`, a request over plain http must name a loopback host. Throws a `LocalError` `invalid_definition` if
 * an option, or an `x-mcp-header` annotation of a tool, is invalid.
 *
 * @example
 * ```ts
 * import { toFetch } from "mcparley/http";
 * import { createServer, tool } from "mcparley/server";
 *
 * const hello = tool({ description: "Greets the user.", call: () => "Hello" });
 * const server = createServer({ name: "hello", version: "1.0.0", tools: { hello } });
 *
 * export default toFetch(server, { path: "/mcp", allowedHosts: ["mcp.example.com"] });
 * ```
 */
export function toFetch(server: Server<unknown, unknown, unknown>, options: HttpOptions = {}): FetchHandler {
  const endpoint = new Endpoint(coreOf(server), options, "Bun" in globalThis ? { Open: SharedTimer } : {});
  const { health } = options;
  const answerHealthCheck = health ? makeHealth(endpoint, health) : undefined;
  return {
    // The environment of Workers can be of any type.
    fetch(request: Request, options?: any, platform?: Platform) {
      const exchange = new FetchExchange(request, options, platform);
      // A legacy call continues after its client has disconnected.
      if (!answerHealthCheck?.(exchange)) exchange.waitUntil(endpoint.handle(exchange));
      return exchange.response;
    },
    drain: () => endpoint.drain(),
    close: () => endpoint.close(),
  };
}
