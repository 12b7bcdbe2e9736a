import { HttpRefusal } from "../http/server/refusal.ts";
import { pause } from "../rpc/abort.ts";
import type { ClusterNode } from "./cluster-node.ts";

/** The id of an input request: the node that sent it, the number of its copy of the session, and a number. */
const idPattern = /^([0-9a-f]{16})\.\d{1,16}\.\d{1,16}$/;
const retryInterval = 1_000;
/** Milliseconds in which at most one response and one progress notification of a request are sent to its node. */
const claimInterval = 1_000;
/** Number of other responses that a response waits for. They were sent to the node then, unless so many nodes have died. */
const maxClaims = 5;
/** Maximum number of requests whose last progress is remembered. */
const maxProgress = 100;
/** The stored value of a request without a response. Otherwise the value is the time of the last response. */
const noResponse = "";

/** An input request, and the node that sent it. */
interface InputRequest {
  id: string;
  node: string;
}

/**
 * The input requests of one session that wait for a response. Each has a key in the store while it waits. A process that
 * receives a response forwards it only if that key exists, so a client cannot fill the store with responses to requests that
 * do not exist.
 */
export class PendingRequests {
  readonly #node: ClusterNode;
  readonly #session: string;
  /** Milliseconds after which a key expires that is not renewed. */
  readonly #ttl: number;
  /** The ids of the requests of this process. */
  readonly #waiting = new Set<string>();
  /** The time of the last progress of requests of other processes, by id. */
  readonly #progress = new Map<string, number>();

  constructor(node: ClusterNode, session: string, ttl: number) {
    this.#node = node;
    this.#session = session;
    this.#ttl = ttl;
  }

  /**
   * Called before a request is sent. Resolves when its key is stored, or when the request was abandoned. Retries while the
   * store is unavailable: no process could receive the response then, because it needs the session's record.
   */
  async asking(id: string): Promise<void> {
    const { core, report } = this.#node;
    this.#waiting.add(id);
    for (let tries = 1; this.#waiting.has(id); tries++) {
      try {
        return await this.#renew(id);
      } catch (error) {
        if (tries === 1) report(error);
        await pause(core.clock, retryInterval);
      }
    }
  }

  /** Called when a request is answered or abandoned. */
  remove(id: string): void {
    const { report, store } = this.#node;
    this.#waiting.delete(id);
    store.delete(this.#requestKey(id)).catch(report);
  }

  /** Renews the keys of the requests that still wait. */
  renew(): void {
    for (const id of this.#waiting) this.#renew(id).catch(this.#node.report);
  }

  /**
   * Returns true if a response must be forwarded to the node of its request: the node waits for it. Of several responses to one
   * request, one per second is forwarded. The others wait: the node that forwards the first one may die before it has done so,
   * and the client repeats its response on this node.
   *
   * Throws a refusal of 503 if the node has no lease. It may still run, so the client must not conclude that it has the response.
   */
  async claimResponse({ id, node }: InputRequest): Promise<boolean> {
    const { core, store } = this.#node;
    for (let claims = 0; claims < maxClaims; claims++) {
      const text = await store.get(this.#requestKey(id));
      if (text === undefined) return false;
      const sinceClaim = text === noResponse ? claimInterval : Math.abs(core.clock.now() - Number(text));
      if (sinceClaim >= claimInterval) {
        if (!(await this.#node.isAlive(node))) throw ownerSilent();
        const claim = String(core.clock.now());
        if (await store.compareAndSet(this.#requestKey(id), text, claim, { ttl: this.#ttl })) return true;
      }
      await pause(core.clock, claimInterval);
    }
    return false;
  }

  /**
   * Returns true if progress must be forwarded to the node of its request. One notification per second is enough, because
   * it only shows that the client works.
   */
  async claimProgress({ id, node }: InputRequest): Promise<boolean> {
    const { core, store } = this.#node;
    const now = core.clock.now();
    if (now - (this.#progress.get(id) ?? -Infinity) < claimInterval) return false;
    if (this.#progress.size >= maxProgress) this.#progress.clear();
    this.#progress.set(id, now);
    return (await store.get(this.#requestKey(id))) !== undefined && this.#node.isAlive(node);
  }

  async #renew(id: string): Promise<void> {
    const { store } = this.#node;
    await store.set(this.#requestKey(id), noResponse, { ttl: this.#ttl });
    // The request may have been answered in the meantime.
    if (!this.#waiting.has(id)) await store.delete(this.#requestKey(id));
  }

  #requestKey(id: string): string {
    return `input-request:${this.#session}:${id}`;
  }
}

function ownerSilent(): HttpRefusal {
  const message = "The process that waits for this response has probably ended. Send the response again.";
  return new HttpRefusal(503, message, { headers: { "retry-after": "1" } });
}

/** Returns the input request that an id names. Undefined for an id that no node created. */
export function inputRequestOf(id: unknown): InputRequest | undefined {
  const node = typeof id === "string" ? idPattern.exec(id)?.[1] : undefined;
  return typeof id === "string" && node !== undefined ? { id, node } : undefined;
}
