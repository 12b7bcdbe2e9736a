import { isUnavailable, reaching } from "../../store/reaching.ts";
import type { Store } from "../../store/store.ts";
import { fromBase64Url, toBase64Url } from "../../rpc/base64.ts";
import type { ServerCore } from "../dispatch/core.ts";
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
/** The ring is gone where nobody has used it for so long. */
const ttl = 30 * day;
/** Milliseconds for which the ring is not read again, unless there is a state of a key that is not in it. */
const freshness = 60_000;
/** The same where there is one: whoever sends made-up states must not make every one of them ask the store. */
const unknownInterval = 1_000;
/** Clocks of two machines may be apart by so much. */
const skew = 60_000;

/**
 * The keys with which all processes of a server seal the states of calls: made by whichever needs them first, and kept in
 * the store. They are replaced every day; one that was replaced still opens what it sealed, for as long as that is good.
 */
export class SharedKeys implements StateKeys {
  readonly #core: ServerCore;
  readonly #store: Store;
  #ring: Promise<SealingKey[]> | undefined;
  #readAt = -Infinity;

  constructor(core: ServerCore, store: Store) {
    this.#core = core;
    this.#store = reaching(store);
  }

  /** The ring as it is known, read again now and then. Where the store is out of reach, the one read before is good. */
  async current(): Promise<SealingKey[]> {
    return this.#readAgain(freshness);
  }

  /** The ring, with what may have been added to it since it was read. */
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
      // Of several that make a key at the same time one succeeds, and the others take its key.
      await this.#store.compareAndSet(name, text, JSON.stringify(due), { ttl });
    }
  }

  /** The ring as it ought to be now: with a new key where the one that seals is old, without those that open nothing. */
  #due(kept: KeptKey[]): KeptKey[] {
    const { clock, limits } = this.#core;
    const now = clock.now();
    const [sealing] = kept;
    if (sealing && now - sealing.madeAt < rotation) return kept;
    const key = toBase64Url(crypto.getRandomValues(new Uint8Array(32)));
    // A key sealed for the last time when the one before it in the ring was made, or a little later elsewhere.
    const useful = kept.filter((_, index) => {
      const replacedAt = kept[index - 1]?.madeAt ?? now;
      return now - replacedAt < limits.stateTtl + freshness + skew;
    });
    return [{ key, madeAt: now }, ...useful];
  }
}
