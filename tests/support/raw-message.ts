import type { JsonObject, JsonRpcErrorBody, RequestId } from "../../packages/mcparley/src/rpc/messages.ts";

/** A message as a test reads it. It has the members of its kind only: a response has no `method`, for example. */
export interface RawMessage {
  jsonrpc: "2.0";
  id: RequestId;
  method: string;
  params: JsonObject;
  result: JsonObject;
  error: JsonRpcErrorBody;
}

export type Fits = (message: RawMessage) => boolean;

export const isRequest: Fits = (message) => "method" in message && "id" in message;
export const isNotification: Fits = (message) => "method" in message && !("id" in message);
export const isResponse: Fits = (message) => !("method" in message);

/** Stores received messages until a test waits for them. */
export class Inbox {
  /** All received messages, in order. */
  readonly received: RawMessage[] = [];
  readonly #taken = new Set<RawMessage>();
  readonly #waiting: { fits: Fits; resolve: (message: RawMessage) => void }[] = [];

  /** Receives a message, or each message of a batch. */
  put(value: unknown): void {
    for (const message of (Array.isArray(value) ? value : [value]) as RawMessage[]) {
      this.received.push(message);
      const index = this.#waiting.findIndex(({ fits }) => fits(message));
      if (index === -1) continue;
      this.#taken.add(message);
      const [waiting] = this.#waiting.splice(index, 1);
      waiting?.resolve(message);
    }
  }

  /** Returns the first message that fits and was not returned before. Waits for it if necessary. */
  next(fits: Fits): Promise<RawMessage> {
    const there = this.received.find((message) => !this.#taken.has(message) && fits(message));
    if (!there) return new Promise((resolve) => this.#waiting.push({ fits, resolve }));
    this.#taken.add(there);
    return Promise.resolve(there);
  }

  request(method: string): Promise<RawMessage> {
    return this.next((message) => isRequest(message) && message.method === method);
  }

  notification(method: string): Promise<RawMessage> {
    return this.next((message) => isNotification(message) && message.method === method);
  }
}

/** Waits until all work is done that needs no network and no timer of more than 0 ms. */
export async function turns(count = 8): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
  // A round of input requests ends in a timer of 0 ms, which is slower than a turn.
  for (let timer = 0; timer < 2; timer++) await new Promise((resolve) => setTimeout(resolve, 0));
}
