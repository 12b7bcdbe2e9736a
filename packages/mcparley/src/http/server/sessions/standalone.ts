import { type JsonRpcMessage, encode } from "../../../rpc/messages.ts";
import { EventStream, type Events } from "../event-stream.ts";
import type { HttpExchange } from "../../exchange.ts";
import type { HttpSession } from "./http-session.ts";
import type { OpenExchange, OpenExchanges } from "../open-exchanges.ts";

/** The response to a GET: a stream for messages that belong to no request of the session (2025-11-25, transports). */
export class Standalone implements OpenExchange {
  due = 0;
  readonly #events: Events;
  readonly #leave: () => void;

  /** `begin` makes the stream, which calls `leave` when the exchange no longer carries it. */
  constructor(
    exchange: HttpExchange,
    { open, session }: { open: OpenExchanges; session: HttpSession },
    begin: (leave: () => void) => Events = () => new EventStream(exchange),
  ) {
    this.#leave = () => {
      open.remove(this);
      session.detach(this);
    };
    this.#events = begin(this.#leave);
    open.add(this);
    session.attach(this);
    exchange.onGone(() => this.end());
  }

  send(message: JsonRpcMessage): void {
    this.sendEncoded(encode(message));
  }

  sendEncoded(json: string): void {
    this.#events.send(json);
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
