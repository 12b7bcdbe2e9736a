import type { ClusterNode } from "./cluster-node.ts";

/** An id of an input request: the node that sent it, its copy of the session, and a number. */
const idPattern = /^([0-9a-f]{16})\.\d{1,16}\.\d{1,16}$/;
/** Milliseconds for which the progress of one request is not sent to its node again. */
const progressInterval = 1_000;
/** Maximum number of requests whose last progress is remembered. */
const maxProgress = 100;

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

  /** Called before a request is sent. Never rejects: without the store, the answer can still come to this process. */
  async asking(id: string): Promise<void> {
    this.#waiting.add(id);
    await this.#set(id);
  }

  /** Called when a request is answered or abandoned. */
  settled(id: string): void {
    const { core, store } = this.#node;
    this.#waiting.delete(id);
    store.delete(this.#keyOf(id)).catch((error: unknown) => core.report(error, undefined));
  }

  /** Renews the keys of the requests that still wait. */
  renew(): void {
    for (const id of this.#waiting) void this.#set(id);
  }

  /** Whether a live node waits for the answer to a request. */
  async isWaiting(id: string): Promise<boolean> {
    const node = askerOf(id);
    if (node === undefined || (await this.#node.store.get(this.#keyOf(id))) === undefined) return false;
    return this.#node.isAlive(node);
  }

  /** Returns true for one of the processes that have an answer to a request. */
  claim(id: string): Promise<boolean> {
    return this.#node.store.delete(this.#keyOf(id));
  }

  /** Undoes `claim` for an answer that could not be sent on, so that the client can send it again. */
  async release(id: string): Promise<void> {
    await this.#set(id);
  }

  /** Returns whether progress of a request may be sent on now: at most once a second, since it only says that the client lives. */
  takesProgress(id: string): boolean {
    const now = this.#node.core.clock.now();
    if (now - (this.#progress.get(id) ?? -Infinity) < progressInterval) return false;
    if (this.#progress.size >= maxProgress) this.#progress.clear();
    this.#progress.set(id, now);
    return true;
  }

  async #set(id: string): Promise<void> {
    const { core, store } = this.#node;
    try {
      await store.set(this.#keyOf(id), "", { ttl: this.#ttl });
      // It may have been answered meanwhile.
      if (askerOf(id) === this.#node.id && !this.#waiting.has(id)) await store.delete(this.#keyOf(id));
    } catch (error) {
      core.report(error, undefined);
    }
  }

  #keyOf(id: string): string {
    return `input-request:${this.#session}:${id}`;
  }
}

/** Returns the node that sent an input request. Undefined for an id that no node made. */
export function askerOf(id: unknown): string | undefined {
  return typeof id === "string" ? idPattern.exec(id)?.[1] : undefined;
}
