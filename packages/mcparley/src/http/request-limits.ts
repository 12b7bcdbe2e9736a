import type { ServerCore } from "../server/core.ts";
import type { ServerLimits } from "../server/options.ts";
import type { Held } from "./exchange.ts";
import { type OpenExchange, OpenExchanges } from "./open-exchanges.ts";
import { HttpRefusal } from "./refusal.ts";

/** Callers without a request in flight whose counters are kept, so that a caller's next request allocates none. */
const maxIdleCallers = 1_000;

/** What one caller has in flight. */
interface Load {
  requests: number;
  bytes: number;
}

/**
 * The limits of POST requests at one endpoint: the requests in flight and the bytes of their bodies, in total and for
 * each caller, and the time that a body may take.
 *
 * A caller may hold at most as much as is free. One caller alone then never takes more than half, and there is always
 * room for others.
 */
export class RequestLimits {
  readonly limits: ServerLimits;
  /** What all callers together have in flight. */
  readonly total: Load = { requests: 0, bytes: 0 };
  readonly #loads = new Map<string, Load>();
  readonly #slow: OpenExchanges;

  /** `bodyTimeout` is in milliseconds. */
  constructor({ limits, clock }: ServerCore, bodyTimeout: number) {
    this.limits = limits;
    this.#slow = new OpenExchanges(clock, bodyTimeout);
  }

  /** Admits a request with a body of so many bytes. Throws 429 if its caller has too much in flight. */
  enter(caller: string, bytes: number): Held {
    const { requests, inFlight } = this.limits;
    let load = this.#loads.get(caller);
    if (!load) this.#loads.set(caller, (load = { requests: 0, bytes: 0 }));
    if (load.requests >= Math.min(inFlight, requests - this.total.requests)) {
      throw busy(load.requests < inFlight ? "requests" : "inFlight");
    }
    const share = new Share(this, caller, load);
    const refusal = share.grow(bytes);
    if (refusal) throw refusal;
    load.requests++;
    this.total.requests++;
    return share;
  }

  leave(caller: string, load: Load): void {
    this.total.requests--;
    if (--load.requests === 0 && this.#loads.size > maxIdleCallers) this.#loads.delete(caller);
  }

  /** Waits for a body. Calls `onTimeout` if it takes too long. */
  wait(onTimeout: (refusal: HttpRefusal) => void): Wait {
    return new Wait(this.#slow, onTimeout);
  }

  stop(): void {
    this.#slow.stop();
  }
}

/** Turns of the microtask queue in which a body that is in memory already is read. */
const bufferedTurns = 32;

/** The wait for one body. No timer is set for a body that is there already. */
export class Wait implements OpenExchange {
  due = 0;
  readonly #slow: OpenExchanges;
  readonly #onTimeout: (refusal: HttpRefusal) => void;
  #isWaiting = true;

  constructor(slow: OpenExchanges, onTimeout: (refusal: HttpRefusal) => void) {
    this.#slow = slow;
    this.#onTimeout = onTimeout;
    void this.#start();
  }

  end(): void {
    this.#isWaiting = false;
    this.#slow.remove(this);
  }

  beat(): void {
    this.end();
    const headers = { connection: "close" };
    this.#onTimeout(
      new HttpRefusal(408, "The body took too long to arrive (bodyTimeout). Send it again.", { headers }),
    );
  }

  endStream(): void {}

  async #start(): Promise<void> {
    for (let turn = 0; turn < bufferedTurns && this.#isWaiting; turn++) await Promise.resolve();
    if (this.#isWaiting) this.#slow.add(this);
  }
}

/** The share of one request. */
class Share implements Held {
  readonly #all: RequestLimits;
  readonly #caller: string;
  readonly #load: Load;
  #bytes = 0;
  #isOver = false;

  constructor(all: RequestLimits, caller: string, load: Load) {
    this.#all = all;
    this.#caller = caller;
    this.#load = load;
  }

  grow(bytes: number): HttpRefusal | undefined {
    const more = bytes - this.#bytes;
    if (more <= 0 || this.#isOver) return undefined;
    if (this.#load.bytes + more > this.#all.limits.bodies - this.#all.total.bytes) return busy("bodies");
    this.#add(more);
    return undefined;
  }

  release(): void {
    if (this.#isOver) return;
    this.#add(-this.#bytes);
    this.#isOver = true;
    this.#all.leave(this.#caller, this.#load);
  }

  #add(bytes: number): void {
    this.#bytes += bytes;
    this.#load.bytes += bytes;
    this.#all.total.bytes += bytes;
  }
}

function busy(limit: keyof ServerLimits): HttpRefusal {
  const what = limit === "bodies" ? "Too many bytes of requests" : "Too many requests";
  const message = `${what} of this caller are in flight (limits.${limit}). Wait for answers, then send it again.`;
  return new HttpRefusal(429, message, { headers: { "retry-after": "1" } });
}
