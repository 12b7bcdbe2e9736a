import type { RequestId } from "../../rpc/messages.ts";
import type { ServerCore } from "../../server/core/server-core.ts";
import type { ServerLimits } from "../../server/core/options.ts";
import type { Held, ReadLimits } from "../exchange.ts";
import type { HttpOptions } from "./options.ts";
import type { OpenExchange, OpenExchanges } from "./open-exchanges.ts";
import { HttpRefusal } from "./refusal.ts";

/** Maximum number of callers whose counters are kept after their last request, so that the next one allocates none. */
const maxIdleCallers = 1_000;

/** Requests in flight, of one caller or of all. */
interface Load {
  /** POSTs whose message has not been read. */
  reading: number;
  /** Requests whose response has not been sent. */
  answering: number;
  bytes: number;
}

/**
 * The limits of POST requests at one endpoint: the requests in flight and the bytes of their bodies, in total and for
 * each caller, and the time that a body may take.
 *
 * A caller may hold at most as much as is free. One caller alone then never holds more than half, and there is always
 * room for others. POSTs are counted separately while they are read: a caller at its limit must still be able to cancel a call,
 * and to answer an input request.
 */
export class RequestLimits implements ReadLimits {
  readonly limits: ServerLimits;
  readonly maxBytes: number;
  /** The requests in flight of all callers together. */
  readonly total: Load = { reading: 0, answering: 0, bytes: 0 };
  readonly #loads = new Map<string, Load>();
  /** The bodies that have not arrived. */
  readonly #slow: OpenExchanges;

  /** `maxBody` is in bytes, `bodyTimeout` in milliseconds. */
  constructor({ limits, clock }: ServerCore, options: HttpOptions, Open: typeof OpenExchanges) {
    const { maxBody = 4 * 1024 * 1024, bodyTimeout = 30_000 } = options;
    this.limits = limits;
    this.maxBytes = maxBody;
    this.#slow = new Open(clock, bodyTimeout);
  }

  /** Admits a POST with a body of `bytes` bytes. Throws 429 if its caller has too much in flight. */
  enter(caller: string, bytes: number): Held {
    let load = this.#loads.get(caller);
    if (!load) this.#loads.set(caller, (load = { reading: 0, answering: 0, bytes: 0 }));
    if (load.reading >= this.limits.requests - this.total.reading) throw busy("requests");
    const share = new Share(this, caller, load);
    const refusal = share.grow(bytes);
    if (!refusal) return share;
    share.release();
    throw refusal;
  }

  /** Forgets a caller without anything in flight, if there are many. */
  forget(caller: string): void {
    if (this.#loads.size > maxIdleCallers) this.#loads.delete(caller);
  }

  startTimeout = (onTimeout: (error: Error) => void): (() => void) => {
    const stop = (): void => this.#slow.remove(body);
    const onInterval = (): void => {
      stop();
      const message = "The body took too long to arrive (bodyTimeout). Send the request again.";
      onTimeout(new HttpRefusal(408, message, { headers: { connection: "close" } }));
    };
    const body: OpenExchange = { due: 0, onInterval };
    this.#slow.addLater(body);
    return stop;
  };

  stop(): void {
    this.#slow.stop();
  }
}

/** The share of one request. Its counters are plain fields, because every request changes them. */
class Share implements Held {
  readonly #all: RequestLimits;
  readonly #caller: string;
  readonly #load: Load;
  #bytes = 0;
  #state: "reading" | "answering" | "over" = "reading";

  /** Counts the request as being read. */
  constructor(all: RequestLimits, caller: string, load: Load) {
    this.#all = all;
    this.#caller = caller;
    this.#load = load;
    load.reading++;
    all.total.reading++;
  }

  answer(id: RequestId | undefined): void {
    if (this.#state !== "reading") return;
    const { limits, total } = this.#all;
    if (this.#load.answering >= limits.inFlight) throw busy("inFlight", id);
    if (this.#load.answering >= limits.requests - total.answering) throw busy("requests", id);
    this.#endReading();
    this.#load.answering++;
    total.answering++;
    this.#state = "answering";
  }

  grow(bytes: number): HttpRefusal | undefined {
    const more = bytes - this.#bytes;
    if (more <= 0 || this.#state === "over") return undefined;
    const { limits, total } = this.#all;
    if (this.#load.bytes + more > limits.bodies - total.bytes) return busy("bodies");
    this.#addBytes(more);
    return undefined;
  }

  release(): void {
    const { total } = this.#all;
    if (this.#state === "reading") this.#endReading();
    else if (this.#state === "answering") {
      this.#load.answering--;
      total.answering--;
    }
    this.#addBytes(-this.#bytes);
    this.#state = "over";
    if (this.#load.reading + this.#load.answering === 0) this.#all.forget(this.#caller);
  }

  #endReading(): void {
    this.#load.reading--;
    this.#all.total.reading--;
  }

  #addBytes(more: number): void {
    this.#bytes += more;
    this.#load.bytes += more;
    this.#all.total.bytes += more;
  }
}

function busy(limit: keyof ServerLimits, id?: RequestId): HttpRefusal {
  const unit = limit === "bodies" ? "bytes of " : "";
  const message = `Too many ${unit}requests of this caller are in flight (limits.${limit}). Wait for replies, then send the request again.`;
  return new HttpRefusal(429, message, { headers: { "retry-after": "1" }, id });
}
