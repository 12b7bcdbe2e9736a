import type { AnswerStream } from "../http/server/answering.ts";
import type { Events } from "../http/server/event-stream.ts";
import type { Exchange } from "../http/exchange.ts";
import type { OpenExchange, OpenExchanges } from "../http/server/open-exchanges.ts";
import type { Connection, ResumableStream } from "./resumable-stream.ts";

/** The answer to a POST that becomes a resumable stream if it becomes a stream. */
export class ResumableAnswer implements AnswerStream, OpenExchange {
  due = 0;
  readonly #create: () => ResumableStream;
  readonly #limits: OpenExchanges | undefined;
  #answer: OpenExchange | undefined;
  #begun: { stream: ResumableStream; connection: Connection } | undefined;

  /** With `limits` no connection is held for longer than they say, whether there was anything to say or not. */
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

  /** The connection has been open for long enough: its client is told how to come back, and let go. */
  beat(): void {
    this.#limits?.remove(this);
    this.#answer?.beat();
    this.#begun?.stream.release(this.#begun.connection);
  }

  endStream(): void {}
}
