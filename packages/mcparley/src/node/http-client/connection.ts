import type { Socket } from "node:net";
import type { Dispatcher } from "undici";
import { Client, buildConnector } from "#undici";

/** Limits of a connection. */
export interface ConnectionLimits {
  /** Milliseconds to connect, with name lookup and TLS. */
  connectMs: number;
  /** Milliseconds after which an idle connection is closed, if the server does not say how long it keeps one. */
  idleMs: number;
  /** Maximum of these milliseconds, if the server says so. */
  maxIdleMs: number;
}

/** Opens the socket of a connection. */
export type Connector = (
  ...args: Parameters<buildConnector.connector>
) => ReturnType<buildConnector.connector> | Socket;

/** Returns the function that opens sockets, directly to the server. */
export function connectorFor({ connectMs }: ConnectionLimits): Connector {
  return buildConnector({ timeout: connectMs });
}

type Idleness = Pick<ConnectionLimits, "idleMs" | "maxIdleMs"> & { closed: () => void };

/** A connection to an origin, which sends one request at a time. It is opened with the first request, and again after a close. */
export class Connection {
  readonly #client: Client;
  /** The last socket. While it is connecting, the client does not close it. */
  #socket: Socket | undefined;

  /** `closed` is called each time when the server or the idle timeout closes the connection. */
  constructor(origin: string, connector: Connector, { idleMs, maxIdleMs, closed }: Idleness) {
    this.#client = new Client(origin, {
      connect: (options, callback) => {
        this.#socket = connector(options, callback) as Socket | undefined;
      },
      pipelining: 1,
      keepAliveTimeout: idleMs,
      keepAliveMaxTimeout: maxIdleMs,
      // The limits of calls decide how long a server may be silent.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    this.#client.on("disconnect", closed);
  }

  send(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.#client.dispatch(options, handler);
  }

  /** Whether all data was sent. A server may reply before it has received a request completely, and may never read the rest. */
  get isFlushed(): boolean {
    return this.#socket?.writableLength === 0;
  }

  /** Closes the connection at once, also while it is opened. */
  destroy(): void {
    this.#client.destroy(() => {});
    this.#socket?.destroy();
  }
}
