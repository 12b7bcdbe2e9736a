import type { JsonRpcErrorBody, JsonObject, RequestId } from "../library.ts";

/** A message as a proof reads it: whichever members it has. */
export interface Message {
  jsonrpc: "2.0";
  id: RequestId;
  method: string;
  params: JsonObject;
  result: JsonObject;
  error: JsonRpcErrorBody;
}

export type Fits = (message: Message) => boolean;

export const isRequest: Fits = (message) => "method" in message && "id" in message;
export const isNotification: Fits = (message) => "method" in message && !("id" in message);
export const isResponse: Fits = (message) => !("method" in message);

/** Keeps what arrives until it is waited for. */
export class Inbox {
  /** All that arrived, in order. */
  readonly received: Message[] = [];
  readonly #taken = new Set<Message>();
  readonly #waiting: { fits: Fits; resolve: (message: Message) => void }[] = [];

  put(value: unknown): void {
    for (const message of (Array.isArray(value) ? value : [value]) as Message[]) {
      this.received.push(message);
      const index = this.#waiting.findIndex(({ fits }) => fits(message));
      if (index === -1) continue;
      this.#taken.add(message);
      const [waiting] = this.#waiting.splice(index, 1);
      waiting?.resolve(message);
    }
  }

  /** The first message, already there or still to come, that fits and was not taken before. */
  next(fits: Fits): Promise<Message> {
    const there = this.received.find((message) => !this.#taken.has(message) && fits(message));
    if (!there) return new Promise((resolve) => this.#waiting.push({ fits, resolve }));
    this.#taken.add(there);
    return Promise.resolve(there);
  }

  request(method: string): Promise<Message> {
    return this.next((message) => isRequest(message) && message.method === method);
  }

  notification(method: string): Promise<Message> {
    return this.next((message) => isNotification(message) && message.method === method);
  }
}

/** Lets everything that is ready run, and all that follows from it without a network or a timer of more than 0 ms. */
export async function turns(count = 8): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
  // Timers are slower than turns, and some work waits for one of 0 ms.
  for (let timer = 0; timer < 2; timer++) await new Promise((resolve) => setTimeout(resolve, 0));
}
