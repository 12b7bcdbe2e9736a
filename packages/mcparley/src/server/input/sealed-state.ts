import { digest } from "../../rpc/digest.ts";
import { type ProtocolError, invalidParams } from "../../rpc/errors.ts";
import { type Bytes, fromBase64Url, toBase64Url } from "../../rpc/base64.ts";
import type { ServerCore } from "../core/server-core.ts";
import { type SealingKey, keyIdLength, keysOf } from "./state-keys.ts";

const ivLength = 12;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Seals the state that the client carries between the rounds of a call, with AES-256-GCM. */
interface StateSeal {
  /** Seals a JSON value. It opens only with the same `binding`. */
  seal(value: unknown, binding: string): Promise<string>;
  /**
   * Opens a sealed state. Throws the same -32602 for every invalid state, without the reason. `binding` is called only for a
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
  const made = seals.get(core) ?? makeSeal(core);
  seals.set(core, made);
  return made;
}

function makeSeal(core: ServerCore): StateSeal {
  const { info, limits, clock } = core;
  const keys = keysOf(core);
  const algorithm = (iv: Bytes, binding: string): AesGcmParams => ({
    name: "AES-GCM",
    iv,
    additionalData: encoder.encode(JSON.stringify([info.name, binding])),
  });
  return {
    async seal(value, binding) {
      const [current] = await keys.current();
      if (!current) throw new TypeError("The server has no key for sealing request states.");
      const iv = crypto.getRandomValues(new Uint8Array(ivLength));
      const plain = encoder.encode(JSON.stringify({ expires: clock.now() + limits.stateTtl, value }));
      const sealed = new Uint8Array(await crypto.subtle.encrypt(algorithm(iv, binding), current.key, plain));
      const envelope = new Uint8Array(keyIdLength + ivLength + sealed.length);
      envelope.set(current.id);
      envelope.set(iv, keyIdLength);
      envelope.set(sealed, keyIdLength + ivLength);
      return toBase64Url(envelope);
    },
    async open(state, binding) {
      const envelope = fromBase64Url(state);
      if (!envelope || envelope.length <= keyIdLength + ivLength) throw invalidState();
      const isNamed = ({ id }: SealingKey): boolean => id.every((byte, index) => byte === envelope[index]);
      const found = (await keys.current()).find(isNamed) ?? (await keys.newest()).find(isNamed);
      if (!found) throw invalidState();
      const iv = envelope.subarray(keyIdLength, keyIdLength + ivLength);
      const sealed = envelope.subarray(keyIdLength + ivLength);
      const options = algorithm(iv, await binding());
      const plain = await crypto.subtle.decrypt(options, found.key, sealed).catch(() => undefined);
      if (!plain) throw invalidState();
      const { expires, value }: { expires: number; value: unknown } = JSON.parse(decoder.decode(plain));
      if (clock.now() >= expires) throw invalidState();
      return value;
    },
  };
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
