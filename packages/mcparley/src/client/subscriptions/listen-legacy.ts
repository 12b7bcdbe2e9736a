import { unlessAborted } from "../../rpc/abort.ts";
import { LocalError, ProtocolError, hasCode } from "../../rpc/errors.ts";
import { Method } from "../../mcp/methods.ts";
import type { ClientCore } from "../core.ts";
import type { ClientConnection } from "../connect/client-connection.ts";
import type { Opening } from "./listen.ts";
import { type ListenFilter, type SubscriptionState, type Opened, listKinds } from "./subscription.ts";

/**
 * Opens a subscription in a legacy session. A server that declares list changes sends them without a subscription. Each
 * resource is subscribed to. If one is refused, those before it are unsubscribed.
 */
export async function listenLegacy(
  core: ClientCore,
  state: SubscriptionState,
  { session, signal }: Opening,
): Promise<Opened> {
  const { connection, server } = session;
  const { capabilities } = server;
  const acceptedFilter: ListenFilter = {};
  for (const kind of listKinds) {
    if (state.filter[kind] && capabilities[kind]?.listChanged) acceptedFilter[kind] = true;
  }
  const uris = capabilities.resources?.subscribe ? state.filter.uris : undefined;
  if (uris) acceptedFilter.uris = uris;
  const subscriptions = SharedSubscriptions.forConnection(connection, core);
  const life = state.life.signal;
  const heldUris: string[] = [];
  const release = (): void => {
    for (const uri of heldUris) subscriptions.release(uri, state.idle);
    subscriptions.leave();
  };
  const streamEnd = new Promise<Error>((resolve) => {
    state.onEnded = resolve;
  });
  subscriptions.join();
  try {
    for (const uri of new Set(uris)) {
      heldUris.push(uri);
      await subscriptions.hold(uri, { signal, idle: state.idle });
    }
  } catch (error) {
    release();
    throw error;
  }
  state.acceptedFilter = acceptedFilter;
  const end = state.onEnded;
  const onClose = (): void => end?.(new LocalError("closed", "The subscription was closed."));
  if (life.aborted) onClose();
  life.addEventListener("abort", onClose, { once: true });
  const releaseEnd = streamEnd.finally(() => {
    life.removeEventListener("abort", onClose);
    release();
  });
  return { end: releaseEnd };
}

/** A resource of a legacy session that subscriptions share. */
interface SharedResource {
  holders: number;
  /** Whether the server sends its updates. Undefined if the outcome of the last request is unknown. */
  isSubscribed: boolean | undefined;
  /** Settles when the last request that was queued is over. Never rejects. */
  queue: Promise<void>;
}

/**
 * The subscriptions in one legacy session. A server knows one subscription per URI, so it is shared: the first holder
 * subscribes, and the last one unsubscribes. Requests for one URI are sent one after another.
 */
class SharedSubscriptions {
  static readonly #ofConnection = new WeakMap<ClientConnection, SharedSubscriptions>();
  readonly #connection: ClientConnection;
  readonly #core: ClientCore;
  readonly #resources = new Map<string, SharedResource>();
  #members = 0;

  static forConnection(connection: ClientConnection, core: ClientCore): SharedSubscriptions {
    const current = this.#ofConnection.get(connection);
    if (current) return current;
    const subscriptions = new SharedSubscriptions(connection, core);
    this.#ofConnection.set(connection, subscriptions);
    return subscriptions;
  }

  constructor(connection: ClientConnection, core: ClientCore) {
    this.#connection = connection;
    this.#core = core;
  }

  /** Counts a subscription. While there are any, the transport keeps the stream for their messages open. */
  join(): void {
    if (this.#members++ === 0) this.#connection.needMessages(true);
  }

  leave(): void {
    if (--this.#members === 0) this.#connection.needMessages(false);
  }

  /** Subscribes to a resource, unless another holder did. Each call needs one of `release`, also if it rejects. */
  hold(uri: string, { signal, idle }: { signal: AbortSignal; idle: number }): Promise<void> {
    const resource = this.#resources.get(uri) ?? { holders: 0, isSubscribed: false, queue: Promise.resolve() };
    this.#resources.set(uri, resource);
    resource.holders++;
    const subscribing = resource.queue.then(async () => {
      if (resource.isSubscribed || signal.aborted) return;
      resource.isSubscribed = undefined;
      try {
        await this.#request(Method.subscribe, uri, { signal, idle });
        resource.isSubscribed = true;
      } catch (error) {
        // After other errors the server may have subscribed.
        if (error instanceof ProtocolError || hasCode(error, "session_lost")) resource.isSubscribed = false;
        throw error;
      }
    });
    resource.queue = subscribing.catch(() => {});
    return unlessAborted(subscribing, signal, Method.listen);
  }

  /** Unsubscribes from a resource, unless there are other holders. */
  release(uri: string, idle: number): void {
    const resource = this.#resources.get(uri);
    if (!resource) return;
    resource.holders--;
    const releasing = resource.queue.then(async () => {
      const isUnneeded = resource.holders === 0 && resource.isSubscribed !== false;
      if (isUnneeded && this.#connection.isOpen) {
        resource.isSubscribed = false;
        await this.#request(Method.unsubscribe, uri, { idle }).catch((error: unknown) => {
          // A subscription ends with its connection.
          if (this.#connection.isOpen) this.#core.report(error);
        });
      }
      if (resource.holders === 0 && resource.queue === releasing) this.#resources.delete(uri);
    });
    resource.queue = releasing;
  }

  async #request(method: string, uri: string, { signal, idle }: { signal?: AbortSignal; idle: number }): Promise<void> {
    const what = `${method} ${JSON.stringify(uri.slice(0, 200))}`;
    await this.#connection.exchange(method, { uri }, { what, idleTimeout: idle, signal });
  }
}
