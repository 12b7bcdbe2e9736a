import type { Clock } from "../../rpc/clock.ts";
import type { Store } from "../../store/store.ts";
import { monotonicClock } from "./remote-store.ts";
import { Outbox, type StoreReply, type StoreRequest, type StoreResult, leaseTime } from "./store-messages.ts";

/** The connection of a worker to the store. */
export interface StoreConnection {
  receive(requests: readonly StoreRequest[]): void;
  /** Ends the subscriptions and leases of the worker, because its process has ended. */
  close(): void;
}

/** A worker that uses the store. */
interface Holder {
  readonly outbox: Outbox<StoreReply>;
  /** The functions to call when it no longer uses a value, by the id of the `drop`. */
  readonly drops: Map<number, () => void>;
  /** The functions that end its subscriptions, by channel. */
  readonly subscriptions: Map<string, Promise<() => Promise<void>>>;
  hasEnded: boolean;
}

/** The workers that may use a value, with the ends of their leases. */
type Leases = Map<Holder, number>;

/**
 * Serves a store in the memory of the primary process to the workers.
 *
 * A worker that reads a value again gets a lease, and uses the value without a message for that time. A change of the value
 * first takes the leases of the other workers back, and waits for their answers, or for the end of the leases. So no worker
 * reads an old value after a change has settled.
 */
export class StoreServer {
  readonly #store: Store;
  readonly #clock: Clock;
  /** By key. The leases that end first are first. */
  readonly #leases = new Map<string, Leases>();
  /** The last change of each key that waits for leases. Later changes of the key wait for it. */
  readonly #changes = new Map<string, Promise<unknown>>();
  #lastDrop = 0;

  constructor(store: Store, clock: Clock = monotonicClock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Connects a worker. `send` sends it messages. */
  connect(send: (replies: StoreReply[]) => void): StoreConnection {
    const holder: Holder = {
      outbox: new Outbox((replies) => {
        if (!holder.hasEnded) send(replies);
      }),
      drops: new Map(),
      subscriptions: new Map(),
      hasEnded: false,
    };
    return {
      receive: (requests) => {
        for (const request of requests) this.#receive(request, holder);
      },
      close: () => {
        holder.hasEnded = true;
        for (const onDropped of holder.drops.values()) onDropped();
        for (const subscription of holder.subscriptions.values()) void subscription.then((leave) => leave());
      },
    };
  }

  #receive(request: StoreRequest, holder: Holder): void {
    const [id, op] = request;
    if (op === "dropped") return holder.drops.get(id)?.();
    this.#answer(request, holder).then(
      (reply) => holder.outbox.push(reply),
      (error: unknown) => holder.outbox.push(["failed", id, error instanceof Error ? error.message : String(error)]),
    );
  }

  async #answer(request: StoreRequest, holder: Holder): Promise<StoreReply> {
    const [id, op, name] = request;
    if (op !== "get") return ["done", id, await this.#run(request, holder)];
    const isLeased = request[3] && this.#lease(name, holder);
    return [isLeased ? "leased" : "done", id, (await this.#store.get(name)) ?? null];
  }

  async #run(request: StoreRequest, holder: Holder): Promise<StoreResult> {
    const store = this.#store;
    switch (request[1]) {
      case "set": {
        const [, , key, value, options] = request;
        await this.#change(key, holder, () => store.set(key, value, options));
        return null;
      }
      case "compareAndSet": {
        const [, , key, expected, value, options] = request;
        const set = (): Promise<boolean> =>
          store.compareAndSet(key, expected ?? undefined, value ?? undefined, options);
        return this.#change(key, holder, set);
      }
      case "delete":
        return this.#change(request[2], holder, () => store.delete(request[2]));
      case "append":
        return store.append(request[2], request[3], request[4]);
      case "readFrom":
        return store.readFrom(request[2], request[3] ?? undefined, request[4]);
      case "publish":
        await store.publish(request[2], request[3]);
        return null;
      case "subscribe": {
        const [, , channel] = request;
        const send = (message: string): void => holder.outbox.push(["message", channel, message]);
        const subscription = store.subscribe(channel, send);
        holder.subscriptions.set(channel, subscription);
        await subscription;
        return null;
      }
      case "unsubscribe": {
        const [, , channel] = request;
        const subscription = holder.subscriptions.get(channel);
        holder.subscriptions.delete(channel);
        const leave = await subscription;
        await leave?.();
        return null;
      }
      default:
        throw new Error(`There is no operation "${request[1]}".`);
    }
  }

  /** Adds a lease of a worker for a key. Returns false if a change of the key is waiting. */
  #lease(key: string, holder: Holder): boolean {
    if (this.#changes.has(key)) return false;
    const now = this.#clock.now();
    const leases = this.#leases.get(key) ?? new Map<Holder, number>();
    this.#leases.delete(key);
    this.#leases.set(key, leases.set(holder, now + leaseTime));
    for (const [old, holders] of this.#leases) {
      if (Math.max(...holders.values()) > now) break;
      this.#leases.delete(old);
    }
    return true;
  }

  /** Changes the value of a key when no other worker uses the old value any more. */
  #change<T>(key: string, writer: Holder, change: () => Promise<T>): Promise<T> {
    const earlier = this.#changes.get(key);
    const leases = [...(this.#leases.get(key) ?? [])].filter(([holder]) => holder !== writer && !holder.hasEnded);
    this.#leases.delete(key);
    if (!earlier && leases.length === 0) return change();
    const result = (async () => {
      await Promise.all([earlier, ...leases.map(([holder, leaseEnd]) => this.#revoke(key, holder, leaseEnd))]);
      return change();
    })();
    const completion = Promise.allSettled([result]);
    this.#changes.set(key, completion);
    void completion.then(() => {
      if (this.#changes.get(key) === completion) this.#changes.delete(key);
    });
    return result;
  }

  /** Takes back the lease of a worker. Resolves when the worker no longer uses the value that it has read. */
  #revoke(key: string, holder: Holder, leaseEnd: number): Promise<void> {
    const id = ++this.#lastDrop;
    return new Promise((resolve) => {
      const onDropped = (): void => {
        holder.drops.delete(id);
        this.#clock.clearTimeout(timer);
        resolve();
      };
      const timer = this.#clock.setTimeout(onDropped, Math.max(0, leaseEnd - this.#clock.now()));
      holder.drops.set(id, onDropped);
      holder.outbox.push(["drop", id, key]);
    });
  }
}
