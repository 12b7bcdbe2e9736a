import type { Http2ServerResponse } from "node:http2";
import type { RequestOptions } from "../http/exchange.ts";
import { documentAt, readAuth } from "../http/server/auth-list.ts";
import { Endpoint } from "../http/server/endpoint.ts";
import { makeHealth } from "../http/server/health.ts";
import type { HttpOptions } from "../http/server/options.ts";
import { readRoutes } from "../http/server/read-request.ts";
import { SharedTimer } from "../http/server/open-exchanges.ts";
import { encodeLarge } from "../rpc/encode-large.ts";
import { type Server, coreOf } from "../server/create-server.ts";
import { NodeExchange, type NodeResponse } from "./node-exchange.ts";
import type { NodeRequest } from "./read-body.ts";

/** Answers requests of a server of `node:http` or `node:http2`, or of a framework that is based on one. */
export interface NodeHandler {
  /**
   * Answers one request. `options` passes the caller that the framework has authenticated, and the body that it has parsed.
   *
   * As middleware (`app.use(handler)`), it calls `next` for requests that are not for MCP. This requires the option `path`,
   * because without it the handler answers every path.
   */
  (request: NodeRequest, response: NodeResponse | Http2ServerResponse, options?: RequestOptions | NextFunction): void;
  /** Ends streams and opens no new streams or sessions. Settles when nothing is in flight, or after `closeTimeout`. */
  drain(this: void): Promise<void>;
  /** Ends streams and sessions after the requests in flight. Does not close the HTTP server. */
  close(this: void): Promise<void>;
}

/** Passes a request to the next middleware of the framework. */
type NextFunction = (error?: any) => void;

/**
 * Returns a request handler for a `node:http` server, or for a framework such as Express.
 *
 * As middleware with the option `path`, the handler also serves the paths of `auth`, `health` and `legacySse`. A body that
 * the framework has parsed is read from `request.body`, or from the `body` that the caller passes. Without `allowedHosts`,
 * only requests to loopback names are answered.
 *
 * @example
 * ```ts
 * import { createServer as createHttpServer } from "node:http";
 * import { toNodeHandler } from "mcparley/node";
 * import { createServer } from "mcparley/server";
 *
 * const server = createServer({ name: "hello", version: "1.0.0" });
 * createHttpServer(toNodeHandler(server)).listen(3000, "127.0.0.1");
 * ```
 */
export function toNodeHandler(server: Server<unknown, unknown, unknown>, options: HttpOptions = {}): NodeHandler {
  const endpoint = new Endpoint(coreOf(server), options, { Open: SharedTimer, encodeLarge });
  void endpoint.convertWhenIdle();
  const { health: healthOption = false, auth } = options;
  const health = healthOption && makeHealth(endpoint, healthOption);
  const routes = readRoutes(options);
  const auths = readAuth(auth);
  const handler = (
    request: NodeRequest,
    response: NodeResponse | Http2ServerResponse,
    optionsOrNext?: RequestOptions | NextFunction,
  ): void => {
    const [requestOptions, next] =
      typeof optionsOrNext === "function" ? [undefined, optionsOrNext] : [optionsOrNext, undefined];
    // Both kinds of response have the members that are used, but the types of HTTP/2 omit some of them.
    const exchange = new NodeExchange(request, response as NodeResponse, requestOptions);
    if (health && health(exchange)) return;
    if (next && !routes.find(exchange.path) && !documentAt(auths, exchange)) return next();
    void endpoint.handle(exchange);
  };
  return Object.assign(handler, { drain: () => endpoint.drain(), close: () => endpoint.close() });
}
