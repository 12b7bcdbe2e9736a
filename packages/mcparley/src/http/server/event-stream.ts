import type { Exchange, ResponseHeaders, ResponseStream } from "../exchange.ts";
import { ACCEL_BUFFERING_HEADER } from "../header-names.ts";

/** The headers of a stream that is sent whole: it is as long as it says, so nothing on the way can keep a part of it. */
export const eventHeaders: ResponseHeaders = {
  "content-type": "text/event-stream",
  [ACCEL_BUFFERING_HEADER]: "no",
};

const streamHeaders: ResponseHeaders = { ...eventHeaders, "cache-control": "no-cache" };

/** Bytes that may wait for a client that does not read; it is cut off when there is more to say. */
const maxBacklog = 16 * 1024 * 1024;

/** Where the messages of an answer go once it is a stream. */
export interface Events {
  /** Sends a message that is serialised already. */
  send(json: string): void;
  /** Sends a comment, which a client ignores and a proxy takes for traffic. */
  comment(): void;
  /** Ends it, after all that was sent before. */
  end(): void;
}

/** A message as an event. JSON as it is serialised holds no line breaks, so it is one line. */
export function asEvent(json: string): string {
  return `event: message\ndata: ${json}\n\n`;
}

/** Sends JSON-RPC messages as Server-Sent Events. */
export class EventStream implements Events {
  readonly #stream: ResponseStream;

  constructor(exchange: Exchange) {
    this.#stream = exchange.stream(200, streamHeaders);
  }

  send(json: string): void {
    this.write(asEvent(json));
  }

  /** Sends one event as it is, with the empty line that ends it. */
  write(event: string): void {
    if (this.#stream.backlog > maxBacklog) this.#stream.destroy();
    else this.#stream.write(event);
  }

  comment(): void {
    this.#stream.write(":\n\n");
  }

  end(): void {
    this.#stream.end();
  }

  /** Breaks it off, so that the client can tell that it is not whole. */
  destroy(): void {
    this.#stream.destroy();
  }
}
