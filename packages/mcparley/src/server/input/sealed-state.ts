import { digest } from "../../rpc/digest.ts";
import type { Clock } from "../../rpc/clock.ts";
import { type ProtocolError, invalidParams } from "../../rpc/errors.ts";
import { type Bytes, fromBase64Url, toBase64Url } from "../../rpc/base64.ts";
import type { ServerCore } from "../core.ts";

const ivLength = 12;
const keyIdLength = 4;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** One message for a state that was altered, has expired, or belongs to another server, caller or call. */
const refusal = "params.requestState is not valid for this request. Send the request again without it.";

export interface SealingKey {
  id: Uint8Array;
  key: CryptoKey;
}

/** Provides the ring of keys. The first key seals, and every key opens. */
export interface StateKeys {
  current(): Promise<SealingKey[]>;
  /** Returns the latest ring, for a state with an unknown key. Another process may have added that key. */
  newest(): Promise<SealingKey[]>;
}

interface SealInit {
  keys: StateKeys;
  /** Name of the server. A state that another server sealed does not open, even with the same keys. */
  server: string;
  /** Milliseconds for which a state can be opened. */
  ttl: number;
  clock: Clock;
}

/**
 * Seals the state that travels through the client between the rounds of a call, with AES-256-GCM.
 *
 * A state opens only on the server that sealed it, with the same binding, before it expires, and with a key of the ring. The
 * first key seals. The other keys open states that were sealed before a rotation.
 */
export class StateSeal {
  readonly #init: SealInit;

  constructor(init: SealInit) {
    this.#init = init;
  }

  /** Seals a JSON value. It opens only with the same `binding`. */
  async seal(value: unknown, binding: string): Promise<string> {
    const { keys, ttl, clock } = this.#init;
    const [current] = await keys.current();
    if (!current) throw new TypeError("The ring of state keys is empty.");
    const iv = crypto.getRandomValues(new Uint8Array(ivLength));
    const plain = encoder.encode(JSON.stringify({ expires: clock.now() + ttl, value }));
    const algorithm = this.#algorithm(iv, binding);
    const sealed = new Uint8Array(await crypto.subtle.encrypt(algorithm, current.key, plain));
    const envelope = new Uint8Array(keyIdLength + ivLength + sealed.length);
    envelope.set(current.id);
    envelope.set(iv, keyIdLength);
    envelope.set(sealed, keyIdLength + ivLength);
    return toBase64Url(envelope);
  }

  /**
   * Opens a sealed state. Throws the same -32602 for every invalid state, without the reason. `binding` is called only for a
   * state that names a key of the ring, because a digest of large arguments takes time.
   */
  async open(state: string, binding: () => Promise<string>): Promise<unknown> {
    const envelope = fromBase64Url(state);
    if (!envelope || envelope.length <= keyIdLength + ivLength) throw refused();
    const isIts = ({ id }: SealingKey): boolean => id.every((byte, index) => byte === envelope[index]);
    const { keys, clock } = this.#init;
    const key = (await keys.current()).find(isIts) ?? (await keys.newest()).find(isIts);
    if (!key) throw refused();
    const iv = envelope.subarray(keyIdLength, keyIdLength + ivLength);
    const algorithm = this.#algorithm(iv, await binding());
    const sealed = envelope.subarray(keyIdLength + ivLength);
    const plain = await crypto.subtle.decrypt(algorithm, key.key, sealed).catch(() => undefined);
    if (!plain) throw refused();
    const { expires, value } = JSON.parse(decoder.decode(plain)) as { expires: number; value: unknown };
    if (clock.now() >= expires) throw refused();
    return value;
  }

  #algorithm(iv: Bytes, binding: string): AesGcmParams {
    const additionalData = encoder.encode(JSON.stringify([this.#init.server, binding]));
    return { name: "AES-GCM", iv, additionalData };
  }
}

const seals = new WeakMap<ServerCore, Promise<StateSeal>>();

/** Returns the seal of a server. It is made with the first input request. */
export function sealOf(core: ServerCore): Promise<StateSeal> {
  const made = seals.get(core) ?? keysOf(core).then((keys) => makeSeal(core, keys));
  seals.set(core, made);
  return made;
}

function makeSeal({ info, limits, clock }: ServerCore, keys: StateKeys): StateSeal {
  return new StateSeal({ keys, server: info.name, ttl: limits.stateTtl, clock });
}

/** Returns the configured keys. Default: the keys in the store, or a random key of this process. */
async function keysOf(core: ServerCore): Promise<StateKeys> {
  const { stateKeys } = core.definition;
  if (!stateKeys && core.definition.store) return new (await import("./shared-keys.ts")).SharedKeys(core);
  return fixedKeys(stateKeys ?? [crypto.getRandomValues(new Uint8Array(32))]);
}

/** Makes a ring that never changes. */
export function fixedKeys(raw: readonly Uint8Array[]): StateKeys {
  const ring = Promise.all(raw.map(importKey));
  ring.catch(() => {});
  return { current: () => ring, newest: () => ring };
}

/** Returns the digest of a JSON value. It does not depend on the order of members. */
export function digestOfJson(value: unknown): Promise<string> {
  return digest(canonical(value));
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) => {
    if (typeof member !== "object" || member === null || Array.isArray(member)) return member;
    const entries = Object.entries(member).toSorted(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(entries);
  });
}

export async function importKey(raw: Uint8Array): Promise<SealingKey> {
  const bytes = new Uint8Array(raw);
  const key = await crypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["encrypt", "decrypt"]);
  const id = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).subarray(0, keyIdLength);
  return { id, key };
}

function refused(): ProtocolError {
  return invalidParams(refusal);
}
