import type { Socket } from "node:net";
import type { Dispatcher } from "undici";
import { Client } from "#undici";
import type { Connector } from "./connector.ts";

/** Limits of a connection. */
export interface ConnectionLimits {
  /** Milliseconds after which an idle connection is closed, if the server does not say how long it keeps one. */
  idleMs: number;
  /** Maximum milliseconds for which an idle connection stays open, if the server states how long it keeps one. */
  maxIdleMs: number;
}

interface ConnectionOptions extends ConnectionLimits {
  /** Called each time when the server or the idle timeout closes the connection. */
  onClose: () => void;
}

/** A connection to an origin, which sends one request at a time. It is opened with the first request, and again after a close. */
export class OriginConnection {
  readonly #client: Client;
  /** The last attempt to connect. The client does not end it. */
  #attempt: ReturnType<Connector> | undefined;
  #socket: Socket | undefined;
  /** The first error of the socket. */
  #error: Error | undefined;

  constructor(origin: string, connector: Connector, { idleMs, maxIdleMs, onClose }: ConnectionOptions) {
    this.#client = new Client(origin, {
      connect: (options, callback) => {
        this.#attempt = connector(options, (...result) => {
          this.#socket = result[1] ?? undefined;
          this.#error = undefined;
          this.#socket?.once("error", (error) => (this.#error = error));
          callback(...result);
        });
      },
      pipelining: 1,
      keepAliveTimeout: idleMs,
      keepAliveMaxTimeout: maxIdleMs,
      // The limits of calls decide how long a server may be silent.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    this.#client.on("disconnect", onClose);
  }

  send(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.#client.dispatch(options, handler);
  }

  /** Whether all data was sent. A server may reply before it has received a request completely, and may never read the rest. */
  get isFlushed(): boolean {
    return this.#socket?.writableLength === 0;
  }

  /**
   * Returns the reason for an error. If a server requires a client certificate, TLS 1.3 reports it after the handshake. undici
   * replaces that error by one that says only that the connection was closed.
   */
  reasonOf(error: Error): Error {
    return this.#error ?? error;
  }

  /** Closes the connection at once, also while it is opened. */
  destroy(): void {
    this.#client.destroy(() => {});
    this.#attempt?.destroy();
    this.#socket?.destroy();
  }
}
