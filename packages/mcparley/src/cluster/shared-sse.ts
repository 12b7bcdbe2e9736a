import { type Principal, principalKey } from "../server/dispatch/context.ts";
import type { ServerCore } from "../server/dispatch/core.ts";
import { reaching } from "../store/reaching.ts";
import type { Store } from "../store/store.ts";
import { ClusterNode, nodeIn } from "./cluster-node.ts";

/** Milliseconds for which other nodes know of a session whose node says nothing any more. */
const ttl = 60_000;

/** Takes what the client of a session posted to another node. */
export type TakePosted = (session: string, value: unknown, principal: Principal | undefined) => void;

/**
 * The sessions of HTTP+SSE that several endpoints serve: each lives where its stream is, and what its client posts may come
 * to any of them, which hands it on.
 */
export class SharedSse {
  readonly #node: ClusterNode;
  /** The key of the principal of each session here, by its id. */
  readonly #here = new Map<string, string>();
  #timer: unknown;

  constructor(core: ServerCore, store: Store, take: TakePosted) {
    this.#node = new ClusterNode(core, reaching(store), {
      mail: (mail) => mail.about === "posted" && take(mail.session, mail.value, mail.principal),
      news: () => {},
    });
  }

  /** Makes the id of a session that can be posted to anywhere. Rejects where the store is out of reach. */
  async open(principal: Principal | undefined): Promise<string> {
    await this.#node.join();
    const id = `${this.#node.id}.${crypto.randomUUID()}`;
    const owner = principalKey(principal);
    await this.#node.store.set(this.#keyOf(id), owner, { ttl });
    this.#here.set(id, owner);
    this.#refreshLater();
    return id;
  }

  /** Whether another node has a session of this caller. */
  async isElsewhere(id: string, principal: Principal | undefined): Promise<boolean> {
    return nodeIn(id) !== undefined && (await this.#node.store.get(this.#keyOf(id))) === principalKey(principal);
  }

  async handOn(id: string, value: unknown, principal: Principal | undefined): Promise<void> {
    await this.#node.post(nodeIn(id)!, { about: "posted", session: id, value, principal });
  }

  close(id: string): void {
    this.#here.delete(id);
    const { core, store } = this.#node;
    store.delete(this.#keyOf(id)).catch((error: unknown) => core.report(error, undefined));
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
    for (const [id, owner] of this.#here) await this.#node.store.set(this.#keyOf(id), owner, { ttl });
  }

  #keyOf(id: string): string {
    return this.#node.keyOf("sse-session", id);
  }
}
