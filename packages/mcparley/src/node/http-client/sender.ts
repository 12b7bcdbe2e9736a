import { setMaxListeners } from "node:events";
import type { HttpReply, Send, SendInit } from "../../http/client/reply.ts";
import { Connection, type ConnectionLimits, type Connector, connectorFor } from "./connection.ts";
import { Exchange } from "./exchange.ts";
import { type Place, type QueueLimits, RequestQueue } from "./request-queue.ts";

type Limits = QueueLimits & ConnectionLimits;

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

/**
 * Returns a function that sends requests with undici, reuses connections, and has no time limit for replies.
 *
 * It accepts a string as body, follows no redirects, and repeats no request. Errors have the code of the system or of undici.
 * An error before a connection exists has the `syscall` "connect", because the server has certainly not received the request.
 */
export function createSender(given: Partial<Limits> = {}): Send {
  const limits = { ...defaultLimits, ...given };
  const connector = connectorFor(limits);
  const origins = new Map<string, Origin>();
  const send: Send = (url, init) => {
    const { signal, priority, waits } = init;
    if (signal?.aborted) return Promise.reject(signal.reason as Error);
    // Many requests may share a signal, and each removes its listener.
    if (signal instanceof AbortSignal) setMaxListeners(0, signal);
    const key = url.origin;
    let origin = origins.get(key);
    if (!origin) {
      origin = new Origin(key, { connector, limits, unused: () => origins.delete(key) });
      origins.set(key, origin);
    }
    if (priority === "high") return origin.send(url, init, undefined);
    const place = origin.queue.enter(signal, waits);
    if (!(place instanceof Promise)) return origin.send(url, init, place);
    const entered = origin;
    return place.then((one) => entered.send(url, init, one));
  };
  send.turn = (url, signal) => origins.get(url.origin)?.queue.turn(signal) ?? Promise.resolve();
  return send;
}

interface OriginSettings {
  connector: Connector;
  limits: Limits;
  /** Called when the origin has no connection. */
  unused: () => void;
}

/** The connections to one origin. */
class Origin {
  readonly queue: RequestQueue;
  readonly #name: string;
  readonly #settings: OriginSettings;
  /** Connections without a request. The last one was used last. */
  readonly #idle: Connection[] = [];
  #used = 0;

  constructor(name: string, settings: OriginSettings) {
    this.#name = name;
    this.#settings = settings;
    this.queue = new RequestQueue(name, settings.limits);
  }

  /** `place` is that of a request that waited in the queue, or could have. */
  send(
    url: URL,
    { method = "GET", headers, body, signal, onReceived }: SendInit,
    place: Place | undefined,
  ): Promise<HttpReply> {
    const connection = this.#idle.pop() ?? this.#connect();
    this.#used++;
    const exchange = new Exchange(signal, onReceived, (isReusable) => {
      this.#used--;
      if (isReusable && connection.isFlushed) this.#idle.push(connection);
      else connection.destroy();
      if (place) this.queue.leave(place);
      if (this.#used === 0) this.#checkUse();
    });
    connection.send(
      {
        path: url.pathname + url.search,
        method,
        headers: headerList(headers as Record<string, string>),
        body: (body as string | undefined) ?? null,
      },
      exchange,
    );
    return exchange.reply;
  }

  #connect(): Connection {
    const { connector, limits } = this.#settings;
    const connection: Connection = new Connection(this.#name, connector, {
      ...limits,
      closed: () => {
        const at = this.#idle.indexOf(connection);
        if (at === -1) return;
        this.#idle.splice(at, 1);
        connection.destroy();
        this.#checkUse();
      },
    });
    return connection;
  }

  #checkUse(): void {
    if (this.#used === 0 && this.#idle.length === 0 && this.queue.isEmpty) this.#settings.unused();
  }
}
