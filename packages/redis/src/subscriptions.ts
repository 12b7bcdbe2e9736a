import type { Attempts } from "./attempts.ts";
import type { Connection, Messages } from "./connection.ts";
import { stampLength, unstamped } from "./stamps.ts";

/** Stamps of messages that are remembered: one that was published again after a broken connection arrives once. */
const remembered = 1_024;

interface Subscription {
  message: (message: string) => void;
  missed: (() => void) | undefined;
}

/** Who listens to which channel, over one connection that is opened for the first of them. */
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
      // Also where others are subscribed: to subscribe again is to wait until they are.
      await this.#attempts.run("subscribe", async () => (await this.#open()).subscribe(channel));
    } catch (error) {
      await this.#leave(channel, subscription);
      throw error;
    }
    return () => this.#leave(channel, subscription);
  }

  close(): void {
    this.#channels.clear();
    void this.#messages?.then((messages) => messages.close()).catch(() => {});
  }

  /** Where nobody listens any more, the server is told so; whether it hears that makes no difference here. */
  async #leave(channel: string, subscription: Subscription): Promise<void> {
    const subscriptions = this.#channels.get(channel);
    if (!subscriptions?.delete(subscription) || subscriptions.size > 0) return;
    this.#channels.delete(channel);
    void this.#messages?.then((messages) => messages.unsubscribe(channel)).catch(() => {});
  }

  #open(): Promise<Messages> {
    this.#messages ??= this.#connection
      .receive({
        message: (channel, text) => this.#deliver(channel, text),
        missed: () => {
          for (const subscription of [...this.#channels.values()].flatMap((all) => [...all])) subscription.missed?.();
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
    if (this.#recent.size > remembered) this.#recent.delete(this.#recent.values().next().value ?? "");
    const message = unstamped(text);
    for (const subscription of this.#channels.get(channel) ?? []) subscription.message(message);
  }
}
