import { type JsonRpcMessage, encode } from "../jsonrpc/messages.ts";
import { EventStream } from "./event-stream.ts";
import type { Exchange } from "./exchange.ts";
import type { HttpSession } from "./http-session.ts";
import type { OpenExchange, OpenExchanges } from "./open-exchanges.ts";

/** The answer to a GET: a stream for what belongs to no request of its session (2025-11-25, transports). */
export class Standalone implements OpenExchange {
  due = 0;
  readonly #events: EventStream;
  readonly #leave: () => void;

  constructor(exchange: Exchange, open: OpenExchanges, session: HttpSession) {
    this.#events = new EventStream(exchange, undefined);
    this.#leave = () => {
      open.remove(this);
      session.detach(this);
    };
    open.add(this);
    session.attach(this);
    exchange.onGone(this.#leave);
  }

  send(message: JsonRpcMessage): void {
    this.#events.send(encode(message));
  }

  beat(): void {
    this.#events.comment();
  }

  endStream(): void {
    this.end();
  }

  end(): void {
    this.#leave();
    this.#events.end();
  }
}
