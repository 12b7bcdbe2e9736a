import { digest } from "../../rpc/digest.ts";
import { type ProtocolError, invalidParams } from "../../rpc/errors.ts";
import { type Bytes, fromBase64Url, toBase64Url } from "../../rpc/base64.ts";
import { isUnavailable, withStoreErrors } from "../../store/store-errors.ts";
import type { ServerCore } from "../core/server-core.ts";
import { warnOfOtherProcess } from "../core/local-id.ts";
import { storeOf } from "../core/store-of.ts";

/** Numbers of bytes of an initialization vector, and of the id of a key. */
const ivLength = 12;
const keyIdLength = 4;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Seals the state that the client carries between the rounds of a call, with AES-256-GCM. */
interface StateSeal {
  /** Seals a JSON value. It opens only with the same `binding`. */
  seal(value: unknown, binding: string): Promise<string>;
  /**
   * Opens a sealed state. Throws -32602 for an unknown key, and one error for every other invalid state, without the reason. `binding` is called only for a
   * state that names a known key, because a digest of large arguments takes time.
   */
  open(state: string, binding: () => Promise<string>): Promise<unknown>;
}

const seals = new WeakMap<ServerCore, StateSeal>();

/**
 * Returns the seal of a server. It is made for the first input request. A state opens only on a server of the same name, with
 * the same binding and a known key, before it expires.
 */
export function sealOf(core: ServerCore): StateSeal {
  const seal = seals.get(core) ?? makeSeal(core);
  seals.set(core, seal);
  return seal;
}

function makeSeal(core: ServerCore): StateSeal {
  const { info, limits, clock } = core;
  const readKeys = keysOf(core);
  const algorithm = (iv: Bytes, binding: string): AesGcmParams => ({
    name: "AES-GCM",
    iv,
    additionalData: encoder.encode(JSON.stringify([info.name, binding])),
  });
  return {
    async seal(value, binding) {
      const [current] = await readKeys(freshness);
      if (!current) throw new TypeError("The server has no key for sealing request states.");
      const iv = crypto.getRandomValues(new Uint8Array(ivLength));
      const plain = encoder.encode(JSON.stringify({ expires: clock.now() + limits.stateTtl, value }));
      const ciphertext = new Uint8Array(await crypto.subtle.encrypt(algorithm(iv, binding), current.key, plain));
      const envelope = new Uint8Array(keyIdLength + ivLength + ciphertext.length);
      envelope.set(current.id);
      envelope.set(iv, keyIdLength);
      envelope.set(ciphertext, keyIdLength + ivLength);
      return toBase64Url(envelope);
    },
    async open(state, binding) {
      const envelope = fromBase64Url(state);
      if (!envelope || envelope.length <= keyIdLength + ivLength) throw invalidState();
      const isNamed = ({ id }: SealingKey): boolean => id.every((byte, index) => byte === envelope[index]);
      const sealingKey = (await readKeys(freshness)).find(isNamed) ?? (await readKeys(unknownInterval)).find(isNamed);
      if (!sealingKey) throw unknownKey(core);
      const iv = envelope.subarray(keyIdLength, keyIdLength + ivLength);
      const ciphertext = envelope.subarray(keyIdLength + ivLength);
      const options = algorithm(iv, await binding());
      const plain = await crypto.subtle.decrypt(options, sealingKey.key, ciphertext).catch(() => undefined);
      if (!plain) throw invalidState();
      const { expires, value }: { expires: number; value: unknown } = JSON.parse(decoder.decode(plain));
      if (clock.now() >= expires) throw invalidState();
      return value;
    },
  };
}

/** The error for a state whose key this process does not have. The id of its key is no secret. */
function unknownKey(core: ServerCore): ProtocolError {
  const { stateKeys, store } = core.definition;
  if (!stateKeys && !store) warnOfOtherProcess(core);
  const cure = stateKeys ? "the same stateKeys" : store ? "the same store" : "the same store or stateKeys";
  return invalidParams(
    `params.requestState was sealed by another process, or too long ago. Processes behind one address need ${cure}. Send the request again without it.`,
  );
}

/** One error for a state that was altered, has expired, or belongs to another server, caller or call. */
function invalidState(): ProtocolError {
  return invalidParams("params.requestState is not valid for this request. Send the request again without it.");
}

/** Returns the digest of a JSON value. It does not depend on the order of members. */
export function digestOfJson(value: unknown): Promise<string> {
  const canonical = JSON.stringify(value, (_key, member: unknown) => {
    if (typeof member !== "object" || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });
  return digest(canonical);
}

/** An imported key, and the id that sealed states name it by. */
interface SealingKey {
  id: Uint8Array;
  key: CryptoKey;
}

/**
 * Returns the keys of a server as they were at most `maxAge` milliseconds ago. The first key seals. Every key opens, so that a
 * key can be replaced.
 */
type ReadKeys = (maxAge: number) => Promise<SealingKey[]>;

/** Returns the keys of the definition; without any, those in the store; without a store, a random one. */
function keysOf(core: ServerCore): ReadKeys {
  const { stateKeys, store } = core.definition;
  if (!stateKeys && store) return sharedKeys(core);
  const rawKeys = stateKeys ?? [crypto.getRandomValues(new Uint8Array(32))];
  const ring = Promise.all(rawKeys.map(importKey));
  ring.catch(() => {});
  return () => ring;
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
/** Milliseconds between two reads if a state names an unknown key. A client that sends forged states must not cause a read for each. */
const unknownInterval = 1_000;
/** Maximum difference between the clocks of two machines, in milliseconds. */
const skew = 60_000;

/**
 * Returns the keys with which all processes of a server seal the states of calls. The server must have a store.
 *
 * The first process that needs a key creates it in the store. The key is replaced every day, and a replaced key opens states
 * until they expire. If the store is unavailable, the last keys are returned.
 */
function sharedKeys(core: ServerCore): ReadKeys {
  const { clock, limits } = core;
  const store = withStoreErrors(storeOf(core)!);
  let ring: Promise<SealingKey[]> | undefined;
  let readAt = -Infinity;

  function readAgain(maxAge: number): Promise<SealingKey[]> {
    const now = clock.now();
    if (ring && now - readAt < maxAge) return ring;
    const previousRing = ring;
    readAt = now;
    const reading = read().catch((error: unknown) => {
      if (ring === reading) ring = previousRing;
      if (!previousRing || !isUnavailable(error)) throw error;
      core.report(error, undefined);
      return previousRing;
    });
    ring = reading;
    return reading;
  }

  async function read(): Promise<SealingKey[]> {
    const name = "state-keys";
    for (;;) {
      const text = await store.get(name);
      const storedKeys: StoredKey[] = text === undefined ? [] : JSON.parse(text);
      const due = dueKeys(storedKeys);
      if (due === storedKeys) return Promise.all(storedKeys.map(({ key }) => importKey(fromBase64Url(key)!)));
      // Of several processes that create a key at the same time, one succeeds, and the others use its key.
      await store.compareAndSet(name, text, JSON.stringify(due), { ttl });
    }
  }

  /** Returns the keys that should be in the store now: with a new key if the first one is old, and without expired keys. */
  function dueKeys(storedKeys: StoredKey[]): StoredKey[] {
    const now = clock.now();
    const [sealing] = storedKeys;
    if (sealing && now - sealing.madeAt < rotation) return storedKeys;
    const key = toBase64Url(crypto.getRandomValues(new Uint8Array(32)));
    // A key sealed for the last time when the key before it in the list was created, or a little later on another machine.
    const useful = storedKeys.filter((_, index) => {
      const replacedAt = storedKeys[index - 1]?.madeAt ?? now;
      return now - replacedAt < limits.stateTtl + freshness + skew;
    });
    return [{ key, madeAt: now }, ...useful];
  }

  return readAgain;
}
