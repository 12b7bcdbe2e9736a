import { type Principal, principalKey } from "../server/core/context.ts";
import type { ServerCore } from "../server/core/server-core.ts";
import type { Store } from "../store/store.ts";
import type { HttpSseRelay, ReceivePosted } from "../http/server/cluster.ts";
import { ClusterNode, nodeOf } from "./cluster-node.ts";

/** Milliseconds after which other nodes no longer find a session whose node does not renew it. */
const ttl = 60_000;

/**
 * The HTTP+SSE sessions of a server that runs in several processes. A session lives in the process that has its stream. The
 * client may post to any process, which forwards the message to that one.
 */
export class SharedSse implements HttpSseRelay {
  readonly #node: ClusterNode;
  /** The principal's key of each session of this process, by session id. */
  readonly #owners = new Map<string, string>();
  #timer: unknown;

  constructor(core: ServerCore, store: Store, receive: ReceivePosted) {
    this.#node = new ClusterNode(core, store, {
      onMessage: (message) => message.about === "posted" && receive(message.session, message.value, message.principal),
      onBroadcast: () => {},
    });
  }

  async open(principal: Principal | undefined): Promise<string> {
    await this.#node.join();
    const id = `${this.#node.id}.${crypto.randomUUID()}`;
    const owner = principalKey(principal);
    await this.#node.store.set(sseSessionKey(id), owner, { ttl });
    this.#owners.set(id, owner);
    this.#renewLater();
    return id;
  }

  async isOnOtherNode(id: string, principal: Principal | undefined): Promise<boolean> {
    const node = nodeOf(id);
    if (node === undefined || (await this.#node.store.get(sseSessionKey(id))) !== principalKey(principal)) return false;
    return this.#node.isAlive(node);
  }

  async forward(id: string, value: unknown, principal: Principal | undefined): Promise<void> {
    const node = nodeOf(id);
    if (node !== undefined) await this.#node.send(node, { about: "posted", session: id, value, principal });
  }

  close(id: string): void {
    this.#owners.delete(id);
    const { report, store } = this.#node;
    store.delete(sseSessionKey(id)).catch(report);
  }

  async stop(): Promise<void> {
    if (this.#timer !== undefined) this.#node.core.clock.clearTimeout(this.#timer);
    await this.#node.leave();
  }

  #renewLater(): void {
    const { core, report, store } = this.#node;
    const renew = async (): Promise<void> => {
      for (const [id, owner] of this.#owners) await store.set(sseSessionKey(id), owner, { ttl });
    };
    this.#timer ??= core.clock.setTimeout(() => {
      this.#timer = undefined;
      if (this.#owners.size === 0) return;
      renew().catch(report);
      this.#renewLater();
    }, ttl / 3);
  }
}

/** Keys with ids that a client invented are only read. Nodes create the ids of stored keys. */
function sseSessionKey(id: string): string {
  return `sse-session:${id}`;
}
