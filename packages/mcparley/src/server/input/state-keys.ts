import { isUnavailable, withStoreErrors } from "../../store/store-errors.ts";
import { fromBase64Url, toBase64Url } from "../../rpc/base64.ts";
import { storeOf } from "../core/store-of.ts";
import type { ServerCore } from "../core/server-core.ts";

/** Number of bytes of the id of a key. */
export const keyIdLength = 4;

/** An imported key, and the id that sealed states name it by. */
export interface SealingKey {
  id: Uint8Array;
  key: CryptoKey;
}

/** Provides the keys of a server. The first key seals. Every key opens, so that a key can be replaced. */
export interface StateKeys {
  current(): Promise<SealingKey[]>;
  /** Returns the latest keys, for a state with an unknown key. Another process may have added that key. */
  newest(): Promise<SealingKey[]>;
}

/** Returns the keys of the definition; without any, those in the store; without a store, a random one. */
export function keysOf(core: ServerCore): StateKeys {
  const { stateKeys, store } = core.definition;
  if (!stateKeys && store) return sharedKeys(core);
  const given = stateKeys ?? [crypto.getRandomValues(new Uint8Array(32))];
  const ring = Promise.all(given.map(importKey));
  ring.catch(() => {});
  return { current: () => ring, newest: () => ring };
}

/** Imports a key of 32 bytes. Its id is the start of its digest. */
async function importKey(raw: Uint8Array): Promise<SealingKey> {
  const bytes = new Uint8Array(raw);
  const key = await crypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["encrypt", "decrypt"]);
  const id = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).subarray(0, keyIdLength);
  return { id, key };
}

/** A key in the store. */
interface StoredKey {
  /** In base64url. */
  key: string;
  /** Milliseconds since the epoch. */
  madeAt: number;
}

const day = 86_400_000;
/** Milliseconds after which the key that seals is replaced. */
const rotation = day;
/** Milliseconds after which unused keys expire. */
const ttl = 30 * day;
/** Milliseconds between two reads of the keys, unless a state was sealed with an unknown key. */
const freshness = 60_000;
/** The same for a state with an unknown key. A client that sends forged states must not cause a read for each. */
const unknownInterval = 1_000;
/** Maximum difference between the clocks of two machines, in milliseconds. */
const skew = 60_000;

/**
 * Returns the keys with which all processes of a server seal the states of calls. The server must have a store.
 *
 * The first process that needs a key creates it in the store. The key is replaced every day, and a replaced key opens states
 * until they expire. `current` reads the keys once a minute. If the store is unavailable, it returns the last ones.
 */
function sharedKeys(core: ServerCore): StateKeys {
  const { clock, limits } = core;
  const store = withStoreErrors(storeOf(core)!);
  let ring: Promise<SealingKey[]> | undefined;
  let readAt = -Infinity;

  function readAgain(interval: number): Promise<SealingKey[]> {
    const now = clock.now();
    if (ring && now - readAt < interval) return ring;
    const before = ring;
    readAt = now;
    const reading = read().catch((error: unknown) => {
      if (ring === reading) ring = before;
      if (!before || !isUnavailable(error)) throw error;
      core.report(error, undefined);
      return before;
    });
    ring = reading;
    return reading;
  }

  async function read(): Promise<SealingKey[]> {
    const name = "state-keys";
    for (;;) {
      const text = await store.get(name);
      const stored: StoredKey[] = text === undefined ? [] : JSON.parse(text);
      const due = dueKeys(stored);
      if (due === stored) return Promise.all(stored.map(({ key }) => importKey(fromBase64Url(key)!)));
      // Of several processes that create a key at the same time, one succeeds, and the others use its key.
      await store.compareAndSet(name, text, JSON.stringify(due), { ttl });
    }
  }

  /** Returns the keys that should be in the store now: with a new key if the first one is old, and without expired keys. */
  function dueKeys(stored: StoredKey[]): StoredKey[] {
    const now = clock.now();
    const [sealing] = stored;
    if (sealing && now - sealing.madeAt < rotation) return stored;
    const key = toBase64Url(crypto.getRandomValues(new Uint8Array(32)));
    // A key sealed for the last time when the key before it in the list was created, or a little later on another machine.
    const useful = stored.filter((_, index) => {
      const replacedAt = stored[index - 1]?.madeAt ?? now;
      return now - replacedAt < limits.stateTtl + freshness + skew;
    });
    return [{ key, madeAt: now }, ...useful];
  }

  return { current: () => readAgain(freshness), newest: () => readAgain(unknownInterval) };
}
