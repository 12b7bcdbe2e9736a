import { isUnavailable, withStoreErrors } from "../../store/store-errors.ts";
import type { Store } from "../../store/store.ts";
import { fromBase64Url, toBase64Url } from "../../rpc/base64.ts";
import { storeOf } from "../store-of.ts";
import type { ServerCore } from "../core.ts";
import { type SealingKey, type StateKeys, importKey } from "./sealed-state.ts";

/** A key of the ring in the store. */
interface KeptKey {
  /** In base64url. */
  key: string;
  /** Milliseconds since the epoch. */
  madeAt: number;
}

const day = 86_400_000;
/** Milliseconds after which the key that seals is replaced. */
const rotation = day;
/** Milliseconds after which an unused ring expires. */
const ttl = 30 * day;
/** Milliseconds between two reads of the ring, unless a state was sealed with an unknown key. */
const freshness = 60_000;
/** The same for a state with an unknown key. A client that sends forged states must not cause a read for each. */
const unknownInterval = 1_000;
/** Maximum difference between the clocks of two machines, in milliseconds. */
const skew = 60_000;

/**
 * The keys with which all processes of a server seal the states of calls. The first process that needs a key creates it in the
 * store. The key is replaced every day; a replaced key opens states until they expire.
 */
export class SharedKeys implements StateKeys {
  readonly #core: ServerCore;
  readonly #store: Store;
  #ring: Promise<SealingKey[]> | undefined;
  #readAt = -Infinity;

  /** `core` must have a store. */
  constructor(core: ServerCore) {
    this.#core = core;
    this.#store = withStoreErrors(storeOf(core)!);
  }

  /** Returns the ring, which is read once a minute. If the store is unavailable, returns the last one. */
  async current(): Promise<SealingKey[]> {
    return this.#readAgain(freshness);
  }

  /** Returns the ring with keys that were added since the last read. */
  async newest(): Promise<SealingKey[]> {
    return this.#readAgain(unknownInterval);
  }

  #readAgain(interval: number): Promise<SealingKey[]> {
    const now = this.#core.clock.now();
    if (this.#ring && now - this.#readAt < interval) return this.#ring;
    const before = this.#ring;
    this.#readAt = now;
    const ring = this.#read().catch((error: unknown) => {
      if (this.#ring === ring) this.#ring = before;
      if (!before || !isUnavailable(error)) throw error;
      this.#core.report(error, undefined);
      return before;
    });
    this.#ring = ring;
    return ring;
  }

  async #read(): Promise<SealingKey[]> {
    const name = "state-keys";
    for (;;) {
      const text = await this.#store.get(name);
      const kept = text === undefined ? [] : (JSON.parse(text) as KeptKey[]);
      const due = this.#due(kept);
      if (due === kept) return Promise.all(kept.map(({ key }) => importKey(fromBase64Url(key)!)));
      // Of several processes that create a key at the same time, one succeeds, and the others use its key.
      await this.#store.compareAndSet(name, text, JSON.stringify(due), { ttl });
    }
  }

  /** Returns the ring that should be in the store now: with a new key if the first one is old, and without expired keys. */
  #due(kept: KeptKey[]): KeptKey[] {
    const { clock, limits } = this.#core;
    const now = clock.now();
    const [sealing] = kept;
    if (sealing && now - sealing.madeAt < rotation) return kept;
    const key = toBase64Url(crypto.getRandomValues(new Uint8Array(32)));
    // A key sealed for the last time when the key before it in the ring was created, or a little later on another machine.
    const useful = kept.filter((_, index) => {
      const replacedAt = kept[index - 1]?.madeAt ?? now;
      return now - replacedAt < limits.stateTtl + freshness + skew;
    });
    return [{ key, madeAt: now }, ...useful];
  }
}
