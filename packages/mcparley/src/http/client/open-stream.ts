import type { EventSourceMessage } from "eventsource-parser";
import { readEvents } from "./sse.ts";

interface Reader {
  deliver: (data: string) => void;
  ended: (cause: Error | undefined) => void;
}

/** An event stream whose first event is looked at before anyone reads the others. */
export class OpenStream {
  /** Settles with the first event, or with undefined where the stream ends before it. */
  readonly first: Promise<EventSourceMessage | undefined>;
  readonly #lifetime: AbortController;
  #settleFirst: ((event: EventSourceMessage | undefined) => void) | undefined;
  #reader: Reader | undefined;
  /** What came before there was a reader. */
  #early: string[] = [];
  #ended: { cause: Error | undefined } | undefined;

  /** Aborting `lifetime` ends the request whose body this is. */
  constructor(body: ReadableStream<Uint8Array>, limit: number, lifetime: AbortController) {
    this.#lifetime = lifetime;
    this.first = new Promise((resolve) => {
      this.#settleFirst = resolve;
    });
    readEvents(body, limit, { event: (event) => this.#take(event), retry: () => {} }).then(
      () => this.#end(undefined),
      (error: Error) => this.#end(error),
    );
  }

  /** Begins to deliver the data of messages; `ended` is called once, when there will be no more. */
  read(reader: Reader): void {
    this.#reader = reader;
    for (const data of this.#early) reader.deliver(data);
    this.#early = [];
    if (this.#ended) reader.ended(this.#ended.cause);
  }

  /** Ends the stream from this side. */
  close(): void {
    this.#lifetime.abort();
  }

  #take(event: EventSourceMessage): void {
    if (this.#settleFirst) {
      this.#settleFirst(event);
      this.#settleFirst = undefined;
    } else if (event.data !== "" && (event.event === undefined || event.event === "message")) {
      if (this.#reader) this.#reader.deliver(event.data);
      else this.#early.push(event.data);
    }
  }

  #end(cause: Error | undefined): void {
    this.#settleFirst?.(undefined);
    this.#ended = { cause };
    this.#reader?.ended(cause);
  }
}
