import { type Principal, principalKey } from "../server/dispatch/context.ts";
import type { ServerCore } from "../server/core.ts";
import type { Store } from "../store/store.ts";
import type { HttpSseRelay, TakePosted } from "../http/server/cluster.ts";
import { ClusterNode, nodeIn } from "./cluster-node.ts";

/** Milliseconds after which a session is unknown to other nodes if its node no longer renews it. */
const ttl = 60_000;

/**
 * The sessions of HTTP+SSE of a server in several processes. A session lives in the process that has its stream. Its client
 * may post to any process, which hands the message to that one.
 */
export class SharedSse implements HttpSseRelay {
  readonly #node: ClusterNode;
  /** The key of the principal of each session of this process, by session id. */
  readonly #here = new Map<string, string>();
  #timer: unknown;

  constructor(core: ServerCore, store: Store, take: TakePosted) {
    this.#node = new ClusterNode(core, store, {
      mail: (mail) => mail.about === "posted" && take(mail.session, mail.value, mail.principal),
      news: () => {},
    });
  }

  async open(principal: Principal | undefined): Promise<string> {
    await this.#node.join();
    const id = `${this.#node.id}.${crypto.randomUUID()}`;
    const owner = principalKey(principal);
    await this.#node.store.set(keyOf(id), owner, { ttl });
    this.#here.set(id, owner);
    this.#refreshLater();
    return id;
  }

  async isElsewhere(id: string, principal: Principal | undefined): Promise<boolean> {
    const owner = nodeIn(id);
    if (owner === undefined || (await this.#node.store.get(keyOf(id))) !== principalKey(principal)) return false;
    return this.#node.isAlive(owner);
  }

  async handOn(id: string, value: unknown, principal: Principal | undefined): Promise<void> {
    await this.#node.post(nodeIn(id)!, { about: "posted", session: id, value, principal });
  }

  close(id: string): void {
    this.#here.delete(id);
    const { core, store } = this.#node;
    store.delete(keyOf(id)).catch((error: unknown) => core.report(error, undefined));
  }

  async stop(): Promise<void> {
    if (this.#timer !== undefined) this.#node.core.clock.clearTimeout(this.#timer);
    await this.#node.leave();
  }

  #refreshLater(): void {
    const { core } = this.#node;
    this.#timer ??= core.clock.setTimeout(() => {
      this.#timer = undefined;
      if (this.#here.size === 0) return;
      this.#refresh().catch((error: unknown) => core.report(error, undefined));
      this.#refreshLater();
    }, ttl / 3);
  }

  async #refresh(): Promise<void> {
    for (const [id, owner] of this.#here) await this.#node.store.set(keyOf(id), owner, { ttl });
  }
}

/** The ids of sessions are node-made, and a client's made-up id only makes the key of a read. */
function keyOf(id: string): string {
  return `sse-session:${id}`;
}
