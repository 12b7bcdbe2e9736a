import type { Clock } from "../../rpc/clock.ts";
import { type ProtocolError, invalidParams } from "../../rpc/errors.ts";
import { fromBase64Url, toBase64Url } from "../../rpc/base64.ts";
import type { ServerCore } from "../dispatch/core.ts";

const ivLength = 12;
const keyIdLength = 4;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A state that was altered, has expired, or belongs to another caller or call: none is told apart from another. */
const refusal = "params.requestState is not valid for this request. Send the request again without it.";

export interface SealingKey {
  id: Uint8Array;
  key: CryptoKey;
}

/** Where the ring of keys comes from: the first seals, and all of them open. */
export interface StateKeys {
  current(): Promise<SealingKey[]>;
  /** The ring again, for a state whose key is not in it: where others may have added one. */
  newest(): Promise<SealingKey[]>;
}

/**
 * Seals the state that travels through the client between the rounds of a call, with AES-256-GCM.
 *
 * A state opens only for what it is bound to, before it expires, and with a key of the ring. The first key seals; the
 * others open what was sealed before a rotation.
 */
export class StateSeal {
  readonly #keys: StateKeys;
  readonly #clock: Clock;
  readonly #ttl: number;

  constructor(keys: StateKeys, ttl: number, clock: Clock) {
    this.#keys = keys;
    this.#ttl = ttl;
    this.#clock = clock;
  }

  /** Seals a JSON value. `binding` is what the state belongs to, and must be given again to open it. */
  async seal(value: unknown, binding: string): Promise<string> {
    const [current] = await this.#keys.current();
    if (!current) throw new TypeError("The ring of state keys is empty.");
    const iv = crypto.getRandomValues(new Uint8Array(ivLength));
    const plain = encoder.encode(JSON.stringify({ expires: this.#clock.now() + this.#ttl, value }));
    const algorithm = { name: "AES-GCM", iv, additionalData: encoder.encode(binding) };
    const sealed = new Uint8Array(await crypto.subtle.encrypt(algorithm, current.key, plain));
    const envelope = new Uint8Array(keyIdLength + ivLength + sealed.length);
    envelope.set(current.id);
    envelope.set(iv, keyIdLength);
    envelope.set(sealed, keyIdLength + ivLength);
    return toBase64Url(envelope);
  }

  /** Opens a sealed state, or throws one fixed -32602 that does not say what was wrong with it. */
  async open(state: string, binding: string): Promise<unknown> {
    const envelope = fromBase64Url(state);
    if (!envelope || envelope.length <= keyIdLength + ivLength) throw refused();
    const isIts = ({ id }: SealingKey): boolean => id.every((byte, index) => byte === envelope[index]);
    const key = (await this.#keys.current()).find(isIts) ?? (await this.#keys.newest()).find(isIts);
    if (!key) throw refused();
    const iv = envelope.subarray(keyIdLength, keyIdLength + ivLength);
    const algorithm = { name: "AES-GCM", iv, additionalData: encoder.encode(binding) };
    const sealed = envelope.subarray(keyIdLength + ivLength);
    const plain = await crypto.subtle.decrypt(algorithm, key.key, sealed).catch(() => undefined);
    if (!plain) throw refused();
    const { expires, value } = JSON.parse(decoder.decode(plain)) as { expires: number; value: unknown };
    if (this.#clock.now() >= expires) throw refused();
    return value;
  }
}

const seals = new WeakMap<ServerCore, Promise<StateSeal>>();

/** The seal of a server: made when a call of it first asks. */
export function sealOf(core: ServerCore): Promise<StateSeal> {
  const made = seals.get(core) ?? keysOf(core).then((keys) => new StateSeal(keys, core.limits.stateTtl, core.clock));
  seals.set(core, made);
  return made;
}

/** The keys that were configured; without any, those in the store, or one of this process alone. */
async function keysOf(core: ServerCore): Promise<StateKeys> {
  const { stateKeys } = core.definition;
  if (!stateKeys && core.store) return new (await import("./shared-keys.ts")).SharedKeys(core, core.store);
  return fixedKeys(stateKeys ?? [crypto.getRandomValues(new Uint8Array(32))]);
}

/** A ring that stays as it is. */
export function fixedKeys(raw: readonly Uint8Array[]): StateKeys {
  const ring = Promise.all(raw.map(importKey));
  ring.catch(() => {});
  return { current: () => ring, newest: () => ring };
}

/** A digest of a JSON value, the same whatever the order of its members. */
export async function digest(value: unknown): Promise<string> {
  const hash = await crypto.subtle.digest("SHA-256", encoder.encode(canonical(value)));
  return toBase64Url(new Uint8Array(hash));
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
