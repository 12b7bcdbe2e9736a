import type { HttpRequestHead } from "../../http/exchange.ts";
import { type Bytes, toBase64Url } from "../../rpc/base64.ts";
import type { Clock } from "../../rpc/clock.ts";
import { refuseStore } from "../../store/server-store.ts";
import type { BoundToken } from "./checks/proof-checks.ts";
import { withChecks } from "./load-checks.ts";
import { invalid } from "./option-checks.ts";
import type { DpopOptions } from "./options.ts";

/** Checks that the sender of a token has the key that the token is bound to. */
export interface ProofChecker {
  /** Returns the nonce for the client's next proof. Undefined if proofs need none. */
  nonce(): Promise<string | undefined>;
  /**
   * Throws `InvalidProof` unless the request has an unused proof for this token and its key. Used proofs are kept in the
   * server's store, or in memory if it has none.
   */
  check(request: HttpRequestHead, boundToken: BoundToken): Promise<void>;
}

/** Milliseconds after which the nonce changes. The nonce before it is still accepted. */
const nonceLifetime = 120_000;

/** Makes the checks of proofs for a resource. Throws `LocalError` `invalid_definition` for options that protect nothing. */
export function makeProofChecker(options: DpopOptions, resource: string, clock: Clock): ProofChecker {
  refuseStore(options, "dpop");
  const { nonce = false, maxAge = 60 } = options;
  if (!(maxAge > 0 && maxAge <= 300))
    throw invalid(`dpop.maxAge must be more than 0 and at most 300 seconds; got ${String(maxAge)}.`);
  const secret = nonce === true ? crypto.getRandomValues(new Uint8Array(32)) : nonce;
  if (secret && secret.length < 32) throw invalid(`dpop.nonce must have at least 32 bytes; got ${secret.length}.`);
  // WebCrypto accepts only bytes that are not shared between threads, so they are copied.
  const nonces = secret ? makeNonces(new Uint8Array(secret), clock) : undefined;
  return {
    nonce: async () => nonces?.current(),
    check: withChecks(({ proofChecks }) => proofChecks({ resource, maxAge, nonces, clock })),
  };
}

/** The nonces of proofs. */
interface Nonces {
  current(): Promise<string>;
  accepts(nonce: unknown): Promise<boolean>;
}

/**
 * Makes the nonces of proofs (RFC 9449, 8). A nonce is the HMAC of its period, so that nothing has to be stored, and all
 * processes with the same secret accept the same nonces.
 */
function makeNonces(secret: Bytes, clock: Clock): Nonces {
  const key = crypto.subtle.importKey("raw", secret, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const periodNow = (): number => Math.floor(clock.now() / nonceLifetime);
  let currentNonce: { period: number; nonce: Promise<string> } | undefined;

  async function nonceOf(period: number): Promise<string> {
    const signature = await crypto.subtle.sign("HMAC", await key, new TextEncoder().encode(`dpop nonce ${period}`));
    return toBase64Url(new Uint8Array(signature));
  }

  function current(): Promise<string> {
    const period = periodNow();
    if (currentNonce?.period !== period) currentNonce = { period, nonce: nonceOf(period) };
    return currentNonce.nonce;
  }

  return {
    current,
    // Nonces are public, so that a comparison in constant time is not needed.
    accepts: async (nonce) => nonce === (await current()) || nonce === (await nonceOf(periodNow() - 1)),
  };
}
