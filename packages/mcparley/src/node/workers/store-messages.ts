import type { AppendOptions, CompareAndSetOptions, Lifetime, LogEntry } from "../../store/store.ts";

/**
 * An operation of a worker. Messages between processes are JSON, so `null` stands for undefined. The last argument of `get`
 * is whether the worker asks for a lease, with which it may use the value again.
 */
export type StoreRequest =
  | [id: number, op: "get", key: string, lease: boolean]
  | [id: number, op: "set", key: string, value: string, options: Lifetime]
  | [
      id: number,
      op: "compareAndSet",
      key: string,
      expected: string | null,
      value: string | null,
      options: CompareAndSetOptions,
    ]
  | [id: number, op: "delete", key: string]
  | [id: number, op: "append", log: string, value: string, options: AppendOptions]
  | [id: number, op: "readFrom", log: string, position: string | null, limit: number]
  | [id: number, op: "publish", channel: string, message: string]
  | [id: number, op: "subscribe" | "unsubscribe", channel: string]
  /** The worker has discarded a value. `id` is the one of the `drop`. */
  | [id: number, op: "dropped"];

export type StoreResult = string | boolean | LogEntry[] | null;

/** A message of the primary process to a worker. */
export type StoreReply =
  | [kind: "done", id: number, result: StoreResult]
  /** The value of a `get`, with a lease of `leaseTime` that starts when the worker sent the request. */
  | [kind: "leased", id: number, result: StoreResult]
  | [kind: "failed", id: number, why: string]
  | [kind: "message", channel: string, message: string]
  /** Another process changes the value of a key. The worker must not use its value any more, and answers with `dropped`. */
  | [kind: "drop", id: number, key: string];

/** Milliseconds for which a worker may use a value that it has read. A change of the value waits for this time at most. */
export const leaseTime = 1_000;

/** Sends the items of one turn of the event loop as one message, because each message needs CPU time. */
export class Outbox<T> {
  readonly #send: (items: T[]) => void;
  #items: T[] = [];

  constructor(send: (items: T[]) => void) {
    this.#send = send;
  }

  push(item: T): void {
    if (this.#items.push(item) > 1) return;
    setImmediate(() => {
      const items = this.#items;
      this.#items = [];
      this.#send(items);
    });
  }
}
