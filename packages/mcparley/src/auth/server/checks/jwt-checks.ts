import {
  type CryptoKey,
  type JWTHeaderParameters,
  type JWTVerifyOptions,
  type JWTVerifyResult,
  decodeJwt,
  decodeProtectedHeader,
  errors,
  jwtVerify,
} from "jose";
import { HttpRefusal, shortenValue } from "../../../http/server/refusal.ts";
import type { Clock } from "../../../rpc/clock.ts";
import { LocalError } from "../../../rpc/errors.ts";
import { printableJson } from "../../../rpc/printable.ts";
import { clockDifference, tokenOf } from "../claims.ts";
import type { JwtVerifierOptions } from "../options.ts";
import { InvalidToken, type TokenVerifier, issuerUnavailable } from "../verified-token.ts";
import { trustedFetch } from "./issuer.ts";
import { type IssuerKeys, type KeySet, issuerKeys } from "./issuer-keys.ts";

interface Verification extends JWTVerifyOptions {
  readonly issuer: string;
  /** Seconds. */
  readonly clockTolerance: number;
}

/** Makes the verifier of the access tokens of one issuer that are JWTs (RFC 9068). */
export function jwtChecks(
  { jwks, types = ["at+jwt", "JWT"], scopesOf, fetch, clock }: JwtVerifierOptions & { clock: Clock },
  verification: Verification,
): TokenVerifier {
  const { issuer } = verification;
  const keys = issuerKeys({ issuer, jwks, fetch: trustedFetch(fetch, clock), clock });
  return async (token) => {
    if (issuerOf(token) !== issuer) return undefined;
    const now = clock.now() / 1000;
    const datedVerification = { ...verification, currentDate: new Date(clock.now()) };
    const { payload, protectedHeader } = await verifyWithKeys(token, keys, datedVerification).catch(
      (error: unknown) => {
        throw toRefusal(error, { issuer, token, now });
      },
    );
    // A JWT for another purpose, such as a logout, is refused (RFC 8725, 3.11).
    const { typ }: { typ?: unknown } = protectedHeader;
    const type = typeof typ === "string" ? typ.toLowerCase().replace(/^application\//, "") : typ;
    if (type && !types.some((one) => one.toLowerCase() === type)) {
      throw new InvalidToken("The token is not an access token.");
    }
    return tokenOf(issuer, payload, scopesOf);
  };
}

/** Returns the unverified issuer of a token, or undefined if it is not a JWT. */
function issuerOf(token: string): unknown {
  try {
    return decodeJwt(token).iss;
  } catch {
    return undefined;
  }
}

/**
 * Verifies a token with the keys of the issuer. If its key is not among them, loads them again. Throws `HttpRefusal` 503 if they
 * cannot be loaded yet and the token may be signed with a newer key: a new sign-in would not help.
 */
async function verifyWithKeys(token: string, keys: IssuerKeys, options: Verification): Promise<JWTVerifyResult> {
  const currentKeys = await keys.current();
  try {
    return await verify(token, currentKeys, options);
  } catch (error) {
    if (!isKeyUnknown(error, token, currentKeys)) throw error;
    const newer = await keys.newerThan(currentKeys);
    if (typeof newer !== "number") return verify(token, newer, options);
    if (!isNewer(token, currentKeys, options.clockTolerance)) throw error;
    throw keyNotLoaded(token, newer);
  }
}

/** Returns whether a token failed because its key is not in a set. A token without a `kid` can be signed with any key. */
function isKeyUnknown(error: unknown, token: string, keys: KeySet): boolean {
  const isUnverified = error instanceof errors.JWSSignatureVerificationFailed;
  if (!isUnverified && !(error instanceof errors.JWKSNoMatchingKey)) return false;
  return !keys.has(decodeProtectedHeader(token).kid);
}

/**
 * Returns whether a token may have been issued after keys were loaded. The key of an older one was removed, or never existed.
 * `tolerance` is in seconds, and applies to tokens that name their key.
 */
function isNewer(token: string, { loadedAt }: KeySet, tolerance: number): boolean {
  const { iat = Infinity } = decodeJwt(token);
  const { kid } = decodeProtectedHeader(token);
  return iat + (kid ? tolerance : 0) > loadedAt / 1000;
}

function keyNotLoaded(token: string, wait: number): HttpRefusal {
  const seconds = Math.ceil(wait / 1000);
  const message = `The key ${keyOf(token)} of the token is not loaded yet. Try again in ${seconds} s.`;
  const cause = new LocalError("unreachable", `${message} The keys of the issuer may have changed.`);
  return new HttpRefusal(503, message, { headers: { "retry-after": String(seconds) }, cause });
}

/** Returns the `kid` of a token, which anyone can have written, as a short quoted text. */
function keyOf(token: string): string {
  const { kid } = decodeProtectedHeader(token);
  return typeof kid === "string" ? printableJson(shortenValue(kid)) : "without kid";
}

/**
 * Converts an error of jose to `InvalidToken`, or to `LocalError` `unreachable`. The message contains no part of the token except
 * its `kid`. `now` is in seconds.
 */
function toRefusal(error: unknown, { issuer, token, now }: { issuer: string; token: string; now: number }): unknown {
  if (error instanceof HttpRefusal) return error;
  if (error instanceof errors.JWTExpired || error instanceof errors.JWTClaimValidationFailed) {
    const { claim, payload } = error;
    const subject = `a token of ${issuer}`;
    return new InvalidToken(claimRefused(error), {
      cause: clockDifference({ claim, date: payload[claim], now, subject, issuedAt: payload.iat }),
    });
  }
  if (error instanceof errors.JOSEAlgNotAllowed)
    return new InvalidToken("The token is signed with an algorithm that is not allowed.");
  const failureText = "The signature of the token does not verify";
  if (error instanceof errors.JWKSNoMatchingKey)
    return new InvalidToken(`${failureText}: the issuer has no key ${keyOf(token)} for its algorithm.`);
  if (error instanceof errors.JWSSignatureVerificationFailed) return new InvalidToken(`${failureText}.`);
  if (
    error instanceof errors.JWSInvalid ||
    error instanceof errors.JWTInvalid ||
    error instanceof errors.JOSENotSupported
  ) {
    return new InvalidToken("The token is not a valid JWT.");
  }
  return issuerUnavailable(issuer, "did not return its public keys", error);
}

function claimRefused({ code, claim, reason }: errors.JWTExpired | errors.JWTClaimValidationFailed): string {
  if (code === errors.JWTExpired.code) return "The token has expired.";
  if (reason === "missing") return `The token has no "${claim}".`;
  if (claim === "aud") return "The token is for another audience.";
  const isEarly = claim === "nbf" && reason === "check_failed";
  return isEarly
    ? "The token is not valid yet by the clock of this server."
    : `The token's "${claim}" is not accepted.`;
}

/** Verifies a token. If several keys match, as for a token without `kid`, each is tried. */
async function verify(token: string, { find }: KeySet, options: JWTVerifyOptions): Promise<JWTVerifyResult> {
  let keys: CryptoKey[] | undefined;
  const nextKey = async (header: JWTHeaderParameters): Promise<CryptoKey> => {
    const key = (keys ??= await find(header)).shift();
    if (!key) throw new errors.JWKSNoMatchingKey();
    return key;
  };
  for (;;) {
    try {
      return await jwtVerify(token, nextKey, options);
    } catch (error) {
      if (!keys?.length || !(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
    }
  }
}
