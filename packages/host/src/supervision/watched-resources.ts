import { type Clock, ErrorCode, LocalError, ProtocolError } from "mcparley";
import type { Client, Subscription } from "mcparley/client";
import { BackOff, stableTime } from "./back-off.ts";
import { isSignInError } from "./server-auth.ts";

/** Milliseconds for the acknowledgment of a subscription. */
const acknowledgeTime = 30_000;

interface WatchSetting {
  readonly clock: Clock;
  /** Called with each update, in addition to the listeners. */
  onUpdated(this: void, uri: string): void;
  report(this: void, error: unknown): void;
}

/** A resource whose updates a listener receives. */
export interface WatchedResource {
  /** Removes the listener. */
  stop(this: void): void;
  /** Resolves when the server has acknowledged the subscription, or none can be opened now. Never rejects. */
  readonly acknowledgment: Promise<void>;
}

/** The resources of a server whose updates the host follows, over all of its connections. */
export class WatchedResources {
  readonly #setting: WatchSetting;
  readonly #listeners = new Map<string, Set<(uri: string) => void>>();
  /** The URIs that were subscribed to on an earlier connection. Their updates may have been missed. */
  readonly #subscribedUris = new Set<string>();
  #client: Client | undefined;
  #subscription: Subscription | undefined;
  /** The URIs of the open subscription. */
  #openUris: ReadonlySet<string> = new Set();
  /** Settles when the subscription has the current URIs. Never rejects. */
  #replacing: Promise<void> | undefined;
  #isOutdated = false;
  /** Whether no subscription was open for a time on this connection, so that updates may have been missed. */
  #isInterrupted = false;
  readonly #backOff = new BackOff();
  #timer: unknown;

  constructor(setting: WatchSetting) {
    this.#setting = setting;
  }

  /** Calls the listener with the URI of each update of a resource or of its parts. */
  watch(uri: string, listener: (uri: string) => void): WatchedResource {
    const listeners = this.#listeners.get(uri) ?? new Set();
    // Each call has its own entry, even with the same function.
    const entry = (updatedUri: string): void => listener(updatedUri);
    this.#listeners.set(uri, listeners.add(entry));
    this.#backOff.permitAutomatic();
    const stop = (): void => {
      if (!listeners.delete(entry) || listeners.size > 0) return;
      this.#listeners.delete(uri);
      this.#subscribedUris.delete(uri);
      void this.#update();
    };
    return { stop, acknowledgment: this.#update() };
  }

  /** Subscribes on a new connection. Reports the resources of the one before as updated. */
  setClient(client: Client): void {
    this.#client = client;
    this.#backOff.permitAutomatic();
    for (const uri of this.#subscribedUris) this.#reportUpdate(uri);
    void this.#update();
  }

  /** Forgets the connection. Its subscriptions end with it. */
  removeClient(): void {
    this.#client = undefined;
    this.#subscription = undefined;
    this.#isInterrupted = false;
    this.#setting.clock.clearTimeout(this.#timer);
  }

  /** Replaces the subscription by one for the current URIs. Changes in the meantime lead to one more replacement. */
  #update(): Promise<void> {
    this.#isOutdated = true;
    this.#replacing ??= this.#replaceUntilCurrent();
    return this.#replacing;
  }

  async #replaceUntilCurrent(): Promise<void> {
    // Several calls of `watch` in a row need one subscription.
    await Promise.resolve();
    while (this.#isOutdated && this.#client) {
      this.#isOutdated = false;
      const client = this.#client;
      await this.#replace(client).catch((error: unknown) => {
        if (client !== this.#client) return;
        this.#setting.report(error);
        this.#planReplacement(error);
      });
    }
    // In the same turn as the last check, so that no later change is missed.
    this.#replacing = undefined;
  }

  async #replace(client: Client): Promise<void> {
    const uris = [...this.#listeners.keys()];
    const previous = this.#subscription;
    if (previous && uris.length === this.#openUris.size && uris.every((uri) => this.#openUris.has(uri))) return;
    if (uris.length > 0 && client.server.capabilities.resources?.subscribe) {
      const onChange = (change: { kind: string; uri?: string }): void => {
        if (change.uri !== undefined) this.#reportUpdate(change.uri);
      };
      const timeout = { total: acknowledgeTime };
      const subscription = await client.listen({ uris }, onChange, { timeout });
      if (client !== this.#client) return;
      this.#followSubscription(subscription, uris);
    } else {
      this.#subscription = undefined;
      this.#openUris = new Set();
      this.#isInterrupted = false;
      this.#setting.clock.clearTimeout(this.#timer);
    }
    // The new subscription is open before the old one ends, so no update is missed.
    await previous?.close();
  }

  /** Follows a subscription. If updates may have been missed before, it reports the resources as updated. */
  #followSubscription(subscription: Subscription, uris: readonly string[]): void {
    const wasInterrupted = this.#isInterrupted;
    const openedAt = this.#setting.clock.now();
    this.#isInterrupted = false;
    this.#subscription = subscription;
    this.#openUris = new Set(uris);
    void subscription.closed.then((reason) => {
      if (!reason || subscription !== this.#subscription) return;
      this.#subscription = undefined;
      const isStable = this.#setting.clock.now() - openedAt >= stableTime;
      if (isStable) {
        this.#backOff.reset();
        this.#backOff.permitAutomatic();
      }
      // The client has reported the reason.
      this.#planReplacement(reason.cause);
    });
    for (const uri of uris) {
      this.#subscribedUris.add(uri);
      if (wasInterrupted) this.#reportUpdate(uri);
    }
  }

  /** Plans another attempt to open the subscription, unless the server refuses it or no attempt is left. */
  #planReplacement(error: unknown): void {
    const { clock } = this.#setting;
    this.#isInterrupted = true;
    clock.clearTimeout(this.#timer);
    if (isRefusal(error) || !this.#backOff.hasAutomatic) return;
    this.#backOff.takeAutomatic();
    this.#timer = clock.setTimeout(() => void this.#update(), this.#backOff.countFailure(error));
  }

  #reportUpdate(uri: string): void {
    this.#setting.onUpdated(uri);
    for (const [watchedUri, listeners] of this.#listeners) {
      if (!isPartOf(uri, watchedUri)) continue;
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

/** Whether another attempt cannot succeed: the server refuses the resources, or the user must sign in first. */
function isRefusal(error: unknown): boolean {
  if (error instanceof ProtocolError) return error.code !== ErrorCode.InternalError;
  return isSignInError(error) || (error instanceof LocalError && error.code === "not_capable");
}

/** Whether a URI is a watched one, or a part of it: `note://1/a` and `note://1#a` are parts of `note://1`. */
function isPartOf(uri: string, watchedUri: string): boolean {
  if (!uri.startsWith(watchedUri)) return false;
  return uri.length === watchedUri.length || watchedUri.endsWith("/") || /^[/#?]/.test(uri.slice(watchedUri.length));
}
