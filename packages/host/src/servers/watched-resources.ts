import type { Client, Subscription } from "mcparley/client";

/** Milliseconds for the acknowledgment of a subscription. */
const acknowledgeTime = 30_000;

interface WatchSetting {
  /** Called with each update, in addition to the listeners. */
  onUpdated(this: void, uri: string): void;
  report(this: void, error: unknown): void;
}

/** A resource whose updates a listener receives. */
export interface WatchedResource {
  /** Removes the listener. */
  stop(this: void): void;
  /** Resolves when the server has acknowledged the subscription, or none can be opened now. Never rejects. */
  readonly opened: Promise<void>;
}

/** The resources of a server whose updates the host follows, over all of its connections. */
export class WatchedResources {
  readonly #setting: WatchSetting;
  readonly #listeners = new Map<string, Set<(uri: string) => void>>();
  /** The URIs that were subscribed to on an earlier connection. Their updates may have been missed. */
  readonly #subscribed = new Set<string>();
  #client: Client | undefined;
  #subscription: Subscription | undefined;
  /** The URIs of the open subscription. */
  #open: ReadonlySet<string> = new Set();
  /** Settles when the subscription has the current URIs. Never rejects. */
  #updating: Promise<void> | undefined;
  #isOutdated = false;

  constructor(setting: WatchSetting) {
    this.#setting = setting;
  }

  /** Calls the listener with the URI of each update of a resource or of its parts. */
  watch(uri: string, listener: (uri: string) => void): WatchedResource {
    const listeners = this.#listeners.get(uri) ?? new Set();
    // Each call has its own entry, even with the same function.
    const entry = (updated: string): void => listener(updated);
    this.#listeners.set(uri, listeners.add(entry));
    const stop = (): void => {
      if (!listeners.delete(entry) || listeners.size > 0) return;
      this.#listeners.delete(uri);
      this.#subscribed.delete(uri);
      void this.#update();
    };
    return { stop, opened: this.#update() };
  }

  /** Subscribes on a new connection. Reports the resources of the one before as updated. */
  connected(client: Client): void {
    this.#client = client;
    for (const uri of this.#subscribed) this.#updated(uri);
    void this.#update();
  }

  /** Forgets the connection. Its subscriptions end with it. */
  disconnected(): void {
    this.#client = undefined;
    this.#subscription = undefined;
  }

  /** Replaces the subscription by one for the current URIs. Changes in the meantime lead to one more replacement. */
  #update(): Promise<void> {
    this.#isOutdated = true;
    this.#updating ??= this.#replaceUntilCurrent();
    return this.#updating;
  }

  async #replaceUntilCurrent(): Promise<void> {
    // Several calls of `watch` in a row need one subscription.
    await Promise.resolve();
    while (this.#isOutdated && this.#client) {
      this.#isOutdated = false;
      const client = this.#client;
      await this.#replace(client).catch((error: unknown) => {
        if (client === this.#client) this.#setting.report(error);
      });
    }
    // In the same turn as the last check, so that no later change is missed.
    this.#updating = undefined;
  }

  async #replace(client: Client): Promise<void> {
    const uris = [...this.#listeners.keys()];
    const previous = this.#subscription;
    if (previous && uris.length === this.#open.size && uris.every((uri) => this.#open.has(uri))) return;
    if (uris.length > 0 && client.server.capabilities.resources?.subscribe) {
      const onChange = (change: { kind: string; uri?: string }): void => {
        if (change.uri !== undefined) this.#updated(change.uri);
      };
      const timeout = { total: acknowledgeTime };
      const opened = await client.listen({ uris }, onChange, { timeout });
      if (client !== this.#client) return;
      this.#subscription = opened;
      this.#open = new Set(uris);
      for (const uri of uris) this.#subscribed.add(uri);
    } else {
      this.#subscription = undefined;
      this.#open = new Set();
    }
    // The new subscription is open before the old one ends, so no update is missed.
    await previous?.close();
  }

  #updated(uri: string): void {
    this.#setting.onUpdated(uri);
    for (const [watched, listeners] of this.#listeners) {
      if (!isPartOf(uri, watched)) continue;
      for (const listener of listeners) {
        try {
          listener(uri);
        } catch (error) {
          this.#setting.report(error);
        }
      }
    }
  }
}

/** Whether a URI is a watched one, or a part of it: `note://1/a` and `note://1#a` are parts of `note://1`. */
function isPartOf(uri: string, watched: string): boolean {
  if (!uri.startsWith(watched)) return false;
  return uri.length === watched.length || watched.endsWith("/") || /^[/#?]/.test(uri.slice(watched.length));
}
