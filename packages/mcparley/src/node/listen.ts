import { once } from "node:events";
import { type Server as HttpServer, type ServerOptions, createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { readAuth } from "../http/server/auth-list.ts";
import { Endpoint } from "../http/server/endpoint.ts";
import { makeHealth } from "../http/server/health.ts";
import type { HttpOptions } from "../http/server/options.ts";
import { SharedTimer } from "../http/server/open-exchanges.ts";
import { LocalError } from "../rpc/errors.ts";
import { encodeLarge } from "../rpc/encode-large.ts";
import { type Server, coreOf } from "../server/create-server.ts";
import { destroyWhenSent } from "./body-writer.ts";
import { NodeExchange } from "./node-exchange.ts";

/** Options of `listen`. */
export interface ListenOptions extends HttpOptions {
  /** The port to listen on. 0 selects a free port. */
  port: number;
  /** The host name or IP address to listen on. Other machines can reach all but a loopback address. Default: `127.0.0.1`. */
  host?: string;
  /**
   * Milliseconds for the head of a request, from the start of its connection or from its first byte. A connection that sends
   * nothing is also closed after this time. Default: 10,000.
   */
  headersTimeout?: number;
  /** Milliseconds for a whole request, head and body. Default: 40,000. */
  requestTimeout?: number;
  /** Milliseconds for which a connection stays open between two requests. Default: 65,000. */
  keepAliveTimeout?: number;
}

/** A running HTTP server. */
export interface RunningHttpServer {
  /** The URL for clients on this machine. */
  readonly url: string;
  /** The port in use, even if port 0 was requested. */
  readonly port: number;
  /**
   * Prepares the shutdown. Requests are still answered, but `/readyz` returns 503, no session or stream is opened, and open
   * streams end with their graceful result. Settles when no request is in flight, or after `closeTimeout`.
   */
  drain(this: void): Promise<void>;
  /**
   * Drains, refuses new requests and waits up to `closeTimeout` for requests in flight. Then stops listening and closes
   * all connections. Sessions in a shared `store` stay there for other processes.
   */
  close(this: void): Promise<void>;
}

/** Milliseconds after which a connection is closed even if its last response is not completely sent. */
const flushTimeout = 2_000;

/**
 * Serves a server over HTTP at `/mcp` on a port of this machine, and resolves when it listens.
 *
 * Without a `host`, it listens on 127.0.0.1, which other machines cannot reach. Port 0 selects a free port. Rejects with
 * `LocalError` `address_unavailable` if it cannot listen on the address.
 *
 * @example
 * ```ts
 * import { listen } from "mcparley/node";
 * import { createServer, tool } from "mcparley/server";
 *
 * const hello = tool({ description: "Greets.", call: () => "Hello" });
 * const server = createServer({ name: "hello", version: "1.0.0", tools: { hello } });
 * const http = await listen(server, { port: 3000 });
 * console.error(`Listening on ${http.url}`);
 * process.once("SIGTERM", () => void http.close());
 * ```
 */
export async function listen(
  server: Server<unknown, unknown, unknown>,
  portOrOptions: number | ListenOptions,
): Promise<RunningHttpServer> {
  const options = typeof portOrOptions === "object" ? portOrOptions : { port: portOrOptions };
  const { port, host = "127.0.0.1", path = "/mcp", health: healthOption = true } = options;
  const core = coreOf(server);
  // `process.env.PORT` is a text, which JavaScript can pass.
  if (!/^\d{1,5}$/.test(String(port)) || port > 65_535)
    throw new LocalError("invalid_definition", `"port" must be a whole number from 0 to 65535; got ${String(port)}.`);
  const endpoint = new Endpoint(core, { ...options, path }, { boundHost: host, Open: SharedTimer, encodeLarge });
  const health = healthOption && makeHealth(endpoint, healthOption);
  const http = createServer(timeoutsOf(options), (request, response) => {
    const exchange = new NodeExchange(request, response);
    if (!health || !health(exchange)) void endpoint.handle(exchange);
  });
  const sockets = new Set<Socket>();
  http.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  let url = "";
  try {
    await bind(http, port, host);
    url = `http://${nameInUrl(host)}:${portOf(http)}/${path.replace(/^\//, "")}`;
    for (const auth of readAuth(options.auth)) auth.listening?.(url);
  } catch (error) {
    await close(http, endpoint, sockets);
    throw error;
  }
  http.on("error", (error) => core.report(error, undefined));
  let closing: Promise<void> | undefined;
  return {
    url,
    port: portOf(http),
    drain: () => endpoint.drain(),
    close: () => (closing ??= close(http, endpoint, sockets)),
  };
}

/** Returns the timeouts of `node:http`, with the interval at which it checks them. */
function timeoutsOf(options: ListenOptions): ServerOptions {
  const { requestTimeout = 40_000, keepAliveTimeout = 65_000 } = options;
  // Node rejects a longer timeout for the head than for the request. 0 means no limit.
  const headersTimeout = Math.min(options.headersTimeout ?? 10_000, requestTimeout || Infinity);
  const shortest = Math.min(headersTimeout || Infinity, requestTimeout || Infinity);
  const connectionsCheckingInterval = Math.ceil(Math.min(5_000, shortest / 4));
  return { headersTimeout, requestTimeout, keepAliveTimeout, connectionsCheckingInterval };
}

async function bind(http: HttpServer, port: number, host: string): Promise<void> {
  http.listen({ port, host });
  await once(http, "listening").catch((cause: NodeJS.ErrnoException) => {
    throw new LocalError("address_unavailable", explain(cause, port, host), { cause });
  });
}

function explain({ code, message }: NodeJS.ErrnoException, port: number, host: string): string {
  switch (code) {
    case "EADDRINUSE":
      return `Port ${port} of ${host} is in use by another process. Choose another port, or 0 for any.`;
    case "EACCES":
      return `Listening on port ${port} of ${host} is not permitted. Ports below 1024 need privileges on most systems.`;
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `This machine has no address "${host}" to listen on.`;
    default:
      return `Cannot listen on port ${port} of ${host}: ${message}`;
  }
}

function portOf(http: HttpServer): number {
  return (http.address() as AddressInfo).port;
}

function nameInUrl(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "localhost";
  return host.includes(":") ? `[${host}]` : host;
}

async function close(http: HttpServer, endpoint: Endpoint, sockets: ReadonlySet<Socket>): Promise<void> {
  // Health checks are answered until no request is in flight.
  await endpoint.close();
  const closing = new Promise<void>((resolve) => {
    http.close(() => resolve());
  });
  // Each connection is closed when its output has been sent.
  for (const socket of sockets) destroyWhenSent(socket);
  const limit = setTimeout(() => http.closeAllConnections(), flushTimeout);
  await closing;
  clearTimeout(limit);
}
