import { EmbeddedJWK, type JWTVerifyResult, calculateJwkThumbprint, errors, jwtVerify } from "jose";
import type { HttpRequestHead } from "../../../http/exchange.ts";
import type { Clock } from "../../../rpc/clock.ts";
import { digest } from "../../../rpc/digest.ts";
import { memoryStore } from "../../../store/memory-store.ts";
import type { Store } from "../../../store/store.ts";
import { clockDifference } from "../claims.ts";
import { InvalidProof, proofAlgorithms } from "../verified-token.ts";

/** Maximum length of a proof in characters. */
const maxProof = 8_192;
/** Seconds by which the clock of a client may be ahead. */
const maxSecondsAhead = 10;

/** A token, the thumbprint of the key that it is bound to, and the store of the server that received it. */
export interface BoundToken {
  token: string;
  jkt: string;
  store: Store | undefined;
}

interface ProofSettings {
  readonly resource: string;
  /** Seconds. */
  readonly maxAge: number;
  readonly nonces: { accepts(nonce: unknown): Promise<boolean> } | undefined;
  readonly clock: Clock;
}

/** Makes the checks of RFC 9449, 4.3 and 7. */
export function proofChecks({
  resource,
  maxAge,
  nonces,
  clock,
}: ProofSettings): (request: HttpRequestHead, boundToken: BoundToken) => Promise<void> {
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
    const isFirst = await store.compareAndSet(key, undefined, "1", { ttl: (maxAge + 2 * maxSecondsAhead) * 1000 });
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
      clockTolerance: maxSecondsAhead,
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
  const resourceUrl = new URL(resource);
  return origin === resourceUrl.origin && (pathname === resourceUrl.pathname || pathname === path);
}
