import { EmbeddedJWK, type JWTVerifyResult, calculateJwkThumbprint, errors, jwtVerify } from "jose";
import type { HttpRequestHead } from "../../http/exchange.ts";
import { type Bytes, toBase64Url } from "../../rpc/base64.ts";
import type { Clock } from "../../rpc/clock.ts";
import { digest } from "../../rpc/digest.ts";
import { memoryStore } from "../../store/memory-store.ts";
import { refuseStore } from "../../store/server-store.ts";
import type { Store } from "../../store/store.ts";
import { clockDifference } from "./claims.ts";
import { invalid } from "./option-checks.ts";

/** The algorithms with which proofs may be signed. */
export const proofAlgorithms: readonly string[] = ["ES256", "ES384", "EdDSA", "Ed25519", "PS256", "RS256"];

/** The codes of refused proofs (RFC 9449, 7.1 and 9). */
type ProofErrorCode = "invalid_dpop_proof" | "use_dpop_nonce";

/** The error for a missing proof, or one that is invalid for its request. The message is sent to the client. */
export class InvalidProof extends Error {
  override readonly name: string = "InvalidProof";
  readonly code: ProofErrorCode;

  constructor(
    message: string,
    { code = "invalid_dpop_proof", cause }: { code?: ProofErrorCode; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.code = code;
  }
}

/** How the proofs of tokens that are bound to a key are checked (DPoP, RFC 9449). */
export interface DpopOptions {
  /** Whether tokens that are not bound to a key are rejected. Default: false. */
  required?: boolean;
  /**
   * Whether each proof must contain a nonce of this server, so that proofs cannot be made in advance. `true` uses a random
   * secret for this process. If several processes serve the resource, give all of them the same secret of at least 32
   * bytes. Default: false.
   */
  nonce?: boolean | Uint8Array;
  /** Maximum age of a proof in seconds, at most 300. Default: 60. */
  maxAge?: number;
}

/** A token, the thumbprint of the key that it is bound to, and the store of the server that received it. */
interface BoundToken {
  token: string;
  jkt: string;
  store: Store | undefined;
}

/** Checks that the sender of a token has the key that the token is bound to. */
export interface ProofChecker {
  /** Returns the nonce for the client's next proof. Undefined if proofs need none. */
  nonce(): Promise<string | undefined>;
  /**
   * Throws `InvalidProof` unless the request has an unused proof for this token and its key. Used proofs are kept in the
   * server's store, or in memory if it has none.
   */
  check(request: HttpRequestHead, bound: BoundToken): Promise<void>;
}

/** Milliseconds after which the nonce changes. The nonce before it is still accepted. */
const nonceLifetime = 120_000;

/** Maximum length of a proof in characters. */
const maxProof = 8_192;
/** Seconds by which the clock of a client may be ahead. */
const ahead = 10;

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
  return { nonce: async () => nonces?.current(), check: proofChecks({ resource, maxAge, nonces, clock }) };
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
  let cached: { period: number; nonce: Promise<string> } | undefined;

  async function nonceOf(period: number): Promise<string> {
    const signed = await crypto.subtle.sign("HMAC", await key, new TextEncoder().encode(`dpop nonce ${period}`));
    return toBase64Url(new Uint8Array(signed));
  }

  function current(): Promise<string> {
    const period = periodNow();
    if (cached?.period !== period) cached = { period, nonce: nonceOf(period) };
    return cached.nonce;
  }

  return {
    current,
    // Nonces are public, so that a comparison in constant time is not needed.
    accepts: async (nonce) => nonce === (await current()) || nonce === (await nonceOf(periodNow() - 1)),
  };
}

interface ProofSettings {
  readonly resource: string;
  /** Seconds. */
  readonly maxAge: number;
  readonly nonces: Nonces | undefined;
  readonly clock: Clock;
}

/** Makes the checks of RFC 9449, 4.3 and 7. */
function proofChecks({ resource, maxAge, nonces, clock }: ProofSettings): ProofChecker["check"] {
  // The memory store keeps the last 100,000 used proofs.
  const memory = memoryStore({ clock });
  return async (request, { token, jkt, store = memory }) => {
    const { payload, protectedHeader } = await verifySignature(request.header("dpop"), maxAge, clock);
    if (!protectedHeader.jwk || (await calculateJwkThumbprint(protectedHeader.jwk)) !== jkt)
      throw new InvalidProof("The proof is signed with another key than that of the token.");
    if (payload.htm !== request.method) throw new InvalidProof("The proof is for another method.");
    if (!isFor(request, resource, payload.htu)) throw new InvalidProof("The proof is for another URL.");
    if (payload.ath !== (await digest(token))) throw new InvalidProof("The proof is for another token.");
    if (nonces && !(await nonces.accepts(payload.nonce)))
      throw new InvalidProof("The proof must contain the nonce of this response.", { code: "use_dpop_nonce" });
    if (typeof payload.jti !== "string") throw new InvalidProof("The jti of the proof must be a string.");
    // The key contains a digest because the client chooses the length of `jti`.
    const key = `dpop:${await digest(`${jkt} ${payload.jti}`)}`;
    const isFirst = await store.compareAndSet(key, undefined, "1", { ttl: (maxAge + 2 * ahead) * 1000 });
    if (!isFirst) throw new InvalidProof("The proof was used before.");
  };
}

async function verifySignature(proof: string | undefined, maxAge: number, clock: Clock): Promise<JWTVerifyResult> {
  if (proof === undefined) throw new InvalidProof("The token is bound to a key: a DPoP proof is required.");
  if (proof.length > maxProof) throw new InvalidProof(`The proof has more than ${maxProof} characters.`);
  try {
    return await jwtVerify(proof, EmbeddedJWK, {
      typ: "dpop+jwt",
      algorithms: [...proofAlgorithms],
      requiredClaims: ["jti", "htm", "htu", "iat", "ath"],
      maxTokenAge: maxAge,
      clockTolerance: ahead,
      currentDate: new Date(clock.now()),
    });
  } catch (error) {
    const isDate = error instanceof errors.JWTExpired || error instanceof errors.JWTClaimValidationFailed;
    const date = isDate && error.claim === "iat" ? error.payload.iat : undefined;
    throw new InvalidProof(wrongTime(date, clock) ?? "The proof is invalid or has expired.", {
      cause: clockDifference({ claim: "iat", date, now: clock.now() / 1000, subject: "a DPoP proof" }),
    });
  }
}

/** Returns the reason to refuse a proof because of its date. Undefined for another reason. */
function wrongTime(date: unknown, clock: Clock): string | undefined {
  if (typeof date !== "number") return undefined;
  const seconds = Math.round(date - clock.now() / 1_000);
  const time = seconds > 0 ? `${seconds} s in the future` : `${-seconds} s in the past`;
  return `The proof has expired or is not valid yet: by the clock of this server it is dated ${time}. Check both clocks.`;
}

/**
 * Returns whether a proof is for the URL of this request. Accepts the URL of the resource, and the path as received. The two
 * differ behind a proxy that rewrites paths, and for the second path of HTTP+SSE.
 */
function isFor({ path }: HttpRequestHead, resource: string, htu: unknown): boolean {
  if (typeof htu !== "string" || !URL.canParse(htu)) return false;
  const { origin, pathname } = new URL(htu);
  const known = new URL(resource);
  return origin === known.origin && (pathname === known.pathname || pathname === path);
}
