import type { HttpExchange, ResponseHeaders, ResponseStream } from "../exchange.ts";
import { ACCEL_BUFFERING_HEADER } from "../header-names.ts";

/**
 * The headers of an event stream. A proxy or middleware that compresses a response holds back its events; `no-transform`
 * forbids it (RFC 9111 section 5.2.2.6).
 */
export const eventHeaders: ResponseHeaders = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  [ACCEL_BUFFERING_HEADER]: "no",
};

/** The event stream of a response. */
export interface Events {
  /** Sends a message that is already encoded as JSON. */
  send(json: string): void;
  /** Sends a comment. Clients ignore it, and proxies count it as traffic. */
  comment(): void;
  /** Ends the stream after its pending events. */
  end(): void;
}

/** Formats a message as an event. `JSON.stringify` writes no line breaks, so one `data` line is enough. */
export function asEvent(json: string): string {
  return `event: message\ndata: ${json}\n\n`;
}

/** Sends JSON-RPC messages as Server-Sent Events. */
export class EventStream implements Events {
  readonly #stream: ResponseStream;

  constructor(exchange: HttpExchange) {
    this.#stream = exchange.stream(200, eventHeaders);
  }

  send(json: string): void {
    this.write(asEvent(json));
  }

  /** Sends one formatted event. It must end with an empty line. */
  write(event: string): void {
    this.#stream.write(event);
  }

  comment(): void {
    this.#stream.write(":\n\n");
  }

  end(): void {
    this.#stream.end();
  }

  /** Aborts the connection, so that the client can detect an incomplete stream. */
  destroy(): void {
    this.#stream.destroy();
  }
}
