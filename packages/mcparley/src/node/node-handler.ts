import type { ServerResponse } from "node:http";
import { Endpoint } from "../http/server/endpoint.ts";
import { makeHealth } from "../http/server/health.ts";
import type { HttpOptions } from "../http/server/options.ts";
import { type Server, coreOf } from "../server/server.ts";
import { NodeExchange, type NodeRequest } from "./node-exchange.ts";

/** Answers requests of a node:http server, or of a framework on top of it. */
export interface NodeHandler {
  (request: NodeRequest, response: ServerResponse): void;
  /** Ends streams and opens no more, and no sessions; settles when nothing is in flight, or after `closeTimeout`. */
  drain(this: void): Promise<void>;
  /** Ends streams and sessions, after what is in flight has been answered; the HTTP server stays as it is. */
  close(this: void): Promise<void>;
}

/**
 * Makes a request handler for any node:http server, Express (`app.all("/mcp", handler)`) and the like.
 *
 * A body that a framework has parsed already is taken from `request.body`. Only loopback names are answered unless
 * `allowedHosts` is given.
 */
export function toNodeHandler(server: Server<any, any, any>, options: HttpOptions = {}): NodeHandler {
  const endpoint = new Endpoint(coreOf(server), options);
  const { health: asked = false } = options;
  const health = asked && makeHealth(endpoint, asked);
  const handler = (request: NodeRequest, response: ServerResponse): void => {
    const exchange = new NodeExchange(request, response);
    if (!health || !health(exchange)) void endpoint.handle(exchange);
  };
  return Object.assign(handler, { drain: () => endpoint.drain(), close: () => endpoint.close() });
}
