import type { Clock } from "../../rpc/clock.ts";
import { refuseStore } from "../../store/server-store.ts";
import { DpopNonces } from "./dpop-nonces.ts";
import { DpopProofs } from "./dpop-proofs.ts";
import { invalid } from "./option-checks.ts";

/** How proofs of possession are checked. */
export interface DpopOptions {
  /** Takes no token that is not bound to a key. False unless given. */
  required?: boolean;
  /**
   * Asks for a nonce of this server in each proof, so that none can be made in advance. `true` makes a secret for this
   * process; give one of 32 bytes or more where several serve the same resource. False unless given.
   */
  nonce?: boolean | Uint8Array<ArrayBuffer>;
  /** Seconds after which a proof is too old. 60 unless given, 300 at most. */
  maxAge?: number;
}

/** Throws `LocalError` `invalid_definition` for options that would not protect anything. */
export function makeProofs(options: DpopOptions, resource: string, clock: Clock): DpopProofs {
  refuseStore(options, "dpop");
  const { nonce = false, maxAge = 60 } = options;
  if (!(maxAge > 0 && maxAge <= 300)) throw invalid(`dpop.maxAge is in seconds, up to 300; got ${String(maxAge)}.`);
  const secret = nonce === true ? crypto.getRandomValues(new Uint8Array(32)) : nonce;
  if (secret && secret.length < 32) throw invalid(`dpop.nonce needs a secret of 32 bytes; got ${secret.length}.`);
  const nonces = secret ? new DpopNonces(secret, clock) : undefined;
  return new DpopProofs({ resource, nonces, maxAge, clock });
}
