import type { Attempts } from "./attempts.ts";
import type { Connection, Messages } from "./connection.ts";
import { stampLength, withoutStamp } from "./encoding.ts";

/** Number of recent message stamps to remember. They detect a message that was published twice after a broken connection. */
const maxStamps = 1_024;

interface Subscription {
  message: (message: string) => void;
  onMissed: (() => void) | undefined;
}

/** The subscriptions by channel. They share one connection, which opens with the first subscription. */
export class Subscriptions {
  readonly #connection: Connection;
  readonly #attempts: Attempts;
  readonly #channels = new Map<string, Set<Subscription>>();
  readonly #recent = new Set<string>();
  #messages: Promise<Messages> | undefined;

  constructor(connection: Connection, attempts: Attempts) {
    this.#connection = connection;
    this.#attempts = attempts;
  }

  async subscribe(channel: string, subscription: Subscription): Promise<() => Promise<void>> {
    const subscriptions = this.#channels.get(channel) ?? new Set();
    this.#channels.set(channel, subscriptions.add(subscription));
    try {
      // Subscribe even if the channel has other subscriptions: theirs may not be confirmed yet.
      await this.#attempts.run("subscribe", async () => (await this.#open()).subscribe(channel));
    } catch (error) {
      this.#remove(channel, subscription);
      throw error;
    }
    return async () => this.#remove(channel, subscription);
  }

  close(): void {
    this.#channels.clear();
    void this.#messages?.then((messages) => messages.close()).catch(() => {});
  }

  /** Removes a subscription. After the last one of a channel it unsubscribes from Redis, and ignores a failure to do so. */
  #remove(channel: string, subscription: Subscription): void {
    const subscriptions = this.#channels.get(channel);
    if (!subscriptions?.delete(subscription) || subscriptions.size > 0) return;
    this.#channels.delete(channel);
    void this.#messages?.then((messages) => messages.unsubscribe(channel)).catch(() => {});
  }

  #open(): Promise<Messages> {
    this.#messages ??= this.#connection
      .receive({
        message: (channel, text) => this.#deliver(channel, text),
        onMissed: () => {
          for (const subscription of [...this.#channels.values()].flatMap((all) => [...all])) subscription.onMissed?.();
        },
      })
      .catch((error: unknown) => {
        this.#messages = undefined;
        throw error;
      });
    return this.#messages;
  }

  #deliver(channel: string, text: string): void {
    const stamp = text.slice(0, stampLength);
    if (this.#recent.has(stamp)) return;
    this.#recent.add(stamp);
    if (this.#recent.size > maxStamps) this.#recent.delete(this.#recent.values().next().value ?? "");
    const message = withoutStamp(text);
    for (const subscription of this.#channels.get(channel) ?? []) subscription.message(message);
  }
}
