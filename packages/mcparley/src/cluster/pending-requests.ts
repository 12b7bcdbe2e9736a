import { type ClusterNode, nodeLease } from "./cluster-node.ts";

/** An id of an input request: the node that sent it, its copy of the session, and a number. */
const idPattern = /^([0-9a-f]{16})\.\d{1,16}\.\d{1,16}$/;
const retryInterval = 1_000;
/** Milliseconds in which one answer, and one progress notification, to a request is sent to its node. */
const claimInterval = 1_000;
/** Maximum number of requests whose last progress is remembered. */
const maxProgress = 100;
/** The value of a request that nobody has answered. Otherwise it is the time of the last answer. */
const open = "";

/**
 * The input requests of one session that wait for an answer. Each has a key in the store while it waits, so that a process
 * that receives an answer sends it on only if some process waits for it. A client cannot fill the store with answers to
 * requests that do not exist.
 */
export class PendingRequests {
  readonly #node: ClusterNode;
  readonly #session: string;
  /** Milliseconds after which a key expires that is not renewed. */
  readonly #ttl: number;
  /** The requests of this process. */
  readonly #waiting = new Set<string>();
  readonly #progress = new Map<string, number>();

  constructor(node: ClusterNode, session: string, ttl: number) {
    this.#node = node;
    this.#session = session;
    this.#ttl = ttl;
  }

  /**
   * Called before a request is sent. Resolves when the other processes can know of it, or when it was abandoned. Retries while
   * the store is unavailable: no process could receive the answer then, because it needs the session's record.
   */
  async asking(id: string): Promise<void> {
    const { core } = this.#node;
    this.#waiting.add(id);
    for (let tries = 1; this.#waiting.has(id); tries++) {
      try {
        return await this.#renew(id);
      } catch (error) {
        if (tries === 1) core.report(error, undefined);
        await new Promise<void>((resolve) => core.clock.setTimeout(resolve, retryInterval));
      }
    }
  }

  /** Called when a request is answered or abandoned. */
  settled(id: string): void {
    const { core, store } = this.#node;
    this.#waiting.delete(id);
    store.delete(this.#keyOf(id)).catch((error: unknown) => core.report(error, undefined));
  }

  /** Renews the keys of the requests that still wait. */
  renew(): void {
    const { core } = this.#node;
    for (const id of this.#waiting) this.#renew(id).catch((error: unknown) => core.report(error, undefined));
  }

  /**
   * Returns true if an answer to a request must be sent to its node: the node waits for it and is alive. Of several answers,
   * one a second is sent. So a client can repeat one whose sending failed.
   */
  async claim(id: string): Promise<boolean> {
    const { core, store } = this.#node;
    const text = await store.get(this.#keyOf(id));
    const now = core.clock.now();
    if (text === undefined || (text !== open && Math.abs(now - Number(text)) < claimInterval)) return false;
    if (!(await this.#isAlive(askerOf(id)!))) return false;
    return store.compareAndSet(this.#keyOf(id), text, String(now), { ttl: this.#ttl });
  }

  /** Returns true if progress on a request must be sent to its node. One a second is enough, because it only shows that the client works. */
  async takesProgress(id: string): Promise<boolean> {
    const { core, store } = this.#node;
    const now = core.clock.now();
    if (now - (this.#progress.get(id) ?? -Infinity) < claimInterval) return false;
    if (this.#progress.size >= maxProgress) this.#progress.clear();
    this.#progress.set(id, now);
    return (await store.get(this.#keyOf(id))) !== undefined && this.#node.isAlive(askerOf(id)!);
  }

  /** Checks twice, because a node that could not reach the store for a moment renews its lease in the meantime. */
  async #isAlive(node: string): Promise<boolean> {
    const { clock } = this.#node.core;
    if (await this.#node.isAlive(node)) return true;
    await new Promise<void>((resolve) => clock.setTimeout(resolve, nodeLease / 2));
    return this.#node.isAlive(node);
  }

  async #renew(id: string): Promise<void> {
    const { store } = this.#node;
    await store.set(this.#keyOf(id), open, { ttl: this.#ttl });
    // It may have been answered meanwhile.
    if (!this.#waiting.has(id)) await store.delete(this.#keyOf(id));
  }

  #keyOf(id: string): string {
    return `input-request:${this.#session}:${id}`;
  }
}

/** Returns the node that sent an input request. Undefined for an id that no node made. */
export function askerOf(id: unknown): string | undefined {
  return typeof id === "string" ? idPattern.exec(id)?.[1] : undefined;
}
