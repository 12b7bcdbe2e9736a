import type { AnswerStream } from "../http/server/respond.ts";
import type { Events } from "../http/server/event-stream.ts";
import type { Exchange } from "../http/exchange.ts";
import type { OpenExchange, OpenExchanges } from "../http/server/open-exchanges.ts";
import type { Connection, ResumableStream } from "./resumable-stream.ts";

/** The reply to a POST. If it becomes a stream, the stream is resumable. */
export class ResumableAnswer implements AnswerStream, OpenExchange {
  due = 0;
  readonly #create: () => ResumableStream;
  readonly #limits: OpenExchanges | undefined;
  #answer: OpenExchange | undefined;
  #begun: { stream: ResumableStream; connection: Connection } | undefined;

  /** With `limits`, each connection ends after their interval, also if nothing was sent. */
  constructor(create: () => ResumableStream, limits: OpenExchanges | undefined) {
    this.#create = create;
    this.#limits = limits;
  }

  opened(answer: OpenExchange): void {
    this.#answer = answer;
    this.#limits?.add(this);
  }

  begin(exchange: Exchange): Events {
    const stream = this.#create();
    this.#begun = { stream, connection: stream.begin(exchange, () => {}) };
    return stream;
  }

  closed(): void {
    this.#limits?.remove(this);
  }

  /** Called when the connection has been open for long enough. The client gets an id to resume from, and the connection ends. */
  beat(): void {
    this.#limits?.remove(this);
    this.#answer?.beat();
    this.#begun?.stream.release(this.#begun.connection);
  }

  endStream(): void {}
}
