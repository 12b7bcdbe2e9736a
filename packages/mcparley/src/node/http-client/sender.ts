import { setMaxListeners } from "node:events";
import type { HttpReply, Send, SendInit } from "../../http/client/reply.ts";
import type { HttpConnection } from "../../http/client/settings.ts";
import { LocalError } from "../../rpc/errors.ts";
import { OriginConnection, type ConnectionLimits } from "./origin-connection.ts";
import { type Connector, connectors } from "./connector.ts";
import { Exchange } from "./exchange.ts";
import { type Environment, type Proxy, proxyFor } from "./proxy.ts";
import { type Place, type QueueLimits, RequestQueue } from "./request-queue.ts";
import { refusedBy } from "./tunnel.ts";

interface Limits extends QueueLimits, ConnectionLimits {
  /** Milliseconds to connect, with name lookup, proxy and TLS. */
  connectMs: number;
}

const defaultLimits: Limits = {
  burst: 128,
  connections: 1_024,
  roundMs: 1_000,
  waitMs: 60_000,
  connectMs: 10_000,
  // Servers often close an idle connection after 5 seconds.
  idleMs: 4_000,
  maxIdleMs: 60_000,
};

/** Returns names and values in turns, with the headers that the `fetch` of Node adds. Some firewalls require a user agent. */
function headerList(headers: Readonly<Record<string, string>>): string[] {
  const list: string[] = [];
  if (headers["user-agent"] === undefined) list.push("user-agent", "node");
  if (headers["accept-encoding"] === undefined) list.push("accept-encoding", "gzip, br");
  for (const name of Object.keys(headers)) list.push(name, headers[name] ?? "");
  return list;
}

interface SenderOptions extends Partial<Limits> {
  /** The proxy and the certificates. Default: the proxy of the environment. */
  connection?: HttpConnection | undefined;
  /** For tests. Default: the environment of the process. */
  env?: Environment;
}

/**
 * Returns a function that sends requests with undici, reuses connections, and has no time limit for replies.
 *
 * It accepts a string as body, follows no redirects, and repeats no request. An http URL is sent through a proxy with its
 * whole URL, and an https URL through a tunnel. The proxy of an origin is chosen when its first connection is opened.
 *
 * Errors have the code of the system or of undici, or are `LocalError` for a proxy or invalid settings. An error before a
 * connection exists has the `syscall` "connect", because the server has certainly not received the request.
 */
export function createSender({ connection, env = process.env, ...limitOptions }: SenderOptions = {}): Send {
  const limits = { ...limitsOf(connection), ...limitOptions };
  const connectorFor = connectors(limits.connectMs, connection);
  const origins = new Map<string, Origin>();
  const open = (url: URL): Origin => {
    const proxy = proxyFor(url, connection?.proxy, env);
    const onUnused = (): void => void origins.delete(url.origin);
    return new Origin(url.origin, { connector: connectorFor(url, proxy), proxy, limits, onUnused });
  };
  const send: Send = (url, init) => {
    const { signal, priority, waits } = init;
    if (signal?.aborted) return Promise.reject(signal.reason as Error);
    // Many requests may share a signal, and each removes its listener.
    if (signal instanceof AbortSignal) setMaxListeners(0, signal);
    const key = url.origin;
    let origin = origins.get(key);
    if (!origin) {
      origin = open(url);
      origins.set(key, origin);
    }
    if (priority === "high") return origin.send(url, init, undefined);
    const place = origin.queue.enter(signal, waits);
    if (!(place instanceof Promise)) return origin.send(url, init, place);
    const currentOrigin = origin;
    return place.then((one) => currentOrigin.send(url, init, one));
  };
  send.turn = (url, signal) => origins.get(url.origin)?.queue.turn(signal) ?? Promise.resolve();
  return send;
}

/** Throws `LocalError` `invalid_target` for a limit that is no positive whole number. */
function limitsOf({ maxConnections, maxWaitMs }: HttpConnection = {}): Limits {
  const limits = { ...defaultLimits };
  if (maxConnections !== undefined) {
    limits.connections = requirePositive("maxConnections", maxConnections);
    limits.burst = Math.min(limits.burst, maxConnections);
  }
  if (maxWaitMs !== undefined) limits.waitMs = requirePositive("maxWaitMs", maxWaitMs);
  return limits;
}

function requirePositive(name: keyof HttpConnection, value: number): number {
  if (Number.isInteger(value) && value > 0) return value;
  const message = `connection.${name} must be a whole number above 0; got ${String(value)}.`;
  throw new LocalError("invalid_target", message);
}

interface OriginSettings {
  connector: Connector;
  proxy: Proxy | undefined;
  limits: Limits;
  /** Called when the origin has no connection. */
  onUnused: () => void;
}

/** The connections to one origin. */
class Origin {
  readonly queue: RequestQueue;
  /** The proxy that forwards requests to an http URL. */
  readonly forwarder: Proxy | undefined;
  readonly #name: string;
  readonly #settings: OriginSettings;
  /** Connections without a request. The last one was used last. */
  readonly #idle: OriginConnection[] = [];
  #usedCount = 0;

  constructor(name: string, settings: OriginSettings) {
    this.#name = name;
    this.#settings = settings;
    this.queue = new RequestQueue(name, settings.limits);
    this.forwarder = name.startsWith("http:") ? settings.proxy : undefined;
  }

  /** `place` is the place of the request in the queue. Undefined for a request that does not enter the queue. */
  send(url: URL, init: SendInit, place: Place | undefined): Promise<HttpReply> {
    const { method = "GET", headers, body } = init;
    const connection = this.#idle.pop() ?? this.#connect();
    this.#usedCount++;
    const onEnd = (isReusable: boolean): void => {
      this.#usedCount--;
      if (isReusable && connection.isFlushed) this.#idle.push(connection);
      else connection.destroy();
      if (place) this.queue.leave(place);
      if (this.#usedCount === 0) this.#checkUse();
    };
    const exchange = new Exchange(init, connection, onEnd);
    const list = headerList(headers as Record<string, string>);
    const path = url.pathname + url.search;
    const { forwarder } = this;
    if (forwarder?.authorization !== undefined) list.push("proxy-authorization", forwarder.authorization);
    connection.send(
      { path: forwarder ? url.origin + path : path, method, headers: list, body: (body as string | undefined) ?? null },
      exchange,
    );
    return forwarder ? exchange.reply.then((reply) => checkForwarded(reply, url, forwarder)) : exchange.reply;
  }

  #connect(): OriginConnection {
    const { connector, limits } = this.#settings;
    const connection: OriginConnection = new OriginConnection(this.#name, connector, {
      ...limits,
      onClose: () => {
        const index = this.#idle.indexOf(connection);
        if (index === -1) return;
        this.#idle.splice(index, 1);
        connection.destroy();
        this.#checkUse();
      },
    });
    return connection;
  }

  #checkUse(): void {
    if (this.#usedCount === 0 && this.#idle.length === 0 && this.queue.isEmpty) this.#settings.onUnused();
  }
}

/** Throws `LocalError` `unreachable` if the proxy did not forward a request. The server may have sent other statuses. */
function checkForwarded(reply: HttpReply, url: URL, proxy: Proxy): HttpReply {
  if (reply.status !== 407) return reply;
  void reply.body?.cancel();
  throw refusedBy(proxy, url, { status: 407, challenge: reply.headers.get("proxy-authenticate") });
}
