import {
  type CryptoKey,
  type JSONWebKeySet,
  type JWTHeaderParameters,
  type JWTVerifyOptions,
  type JWTVerifyResult,
  decodeJwt,
  decodeProtectedHeader,
  errors,
  jwtVerify,
} from "jose";
import { HttpRefusal, shown } from "../../http/server/refusal.ts";
import { type Clock, systemClock } from "../../rpc/clock.ts";
import { LocalError } from "../../rpc/errors.ts";
import { isObject } from "../../rpc/messages.ts";
import { printableJson } from "../../rpc/printable.ts";
import { clockDifference, tokenOf } from "./claims.ts";
import { trustedFetch } from "./issuer.ts";
import { type IssuerKeys, type KeySet, issuerKeys } from "./issuer-keys.ts";
import { checkUrl, checkAudience, checkIdentifier, checkTolerance, invalid } from "./option-checks.ts";
import { InvalidToken, type ScopesOf, type TokenVerifier, issuerUnavailable } from "./verified-token.ts";

/** Options of `jwtVerifier`. */
export interface JwtVerifierOptions {
  /** The accepted issuer, exactly as tokens write it in `iss`. */
  issuer: string;
  /** The accepted audiences: the `aud` of a token must contain one. Most issuers use the URL of the resource. */
  audience: string | readonly string[];
  /** The keys of the issuer, or their URL. Default: the `jwks_uri` in the issuer's metadata. */
  jwks?: string | JSONWebKeySet;
  /** The accepted algorithms. Default: all with a public key. `none` and HMAC cannot be accepted. */
  algorithms?: readonly string[];
  /** The accepted values of `typ`. Default: `at+jwt` and `JWT`. A token without `typ` is also accepted. */
  types?: readonly string[];
  /** The accepted clock difference in seconds, up to 300. Default: 30. */
  clockTolerance?: number;
  /** Reads the scopes of a token. Default: from `scope`, or else `scp`. */
  scopesOf?: ScopesOf;
  /** Fetches metadata and keys, for example through a proxy. */
  fetch?: typeof fetch;
  /** Source of time and timers. For tests. Default: the clock of the system. */
  clock?: Clock;
}

/** Algorithms with a public key, with which a verifier cannot sign. */
const publicKeyAlgorithms = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
  "ML-DSA-44",
  "ML-DSA-65",
  "ML-DSA-87",
];

/**
 * Verifies access tokens that are JWTs of one issuer (RFC 9068): signature, issuer, audience, lifetime and type.
 *
 * Returns undefined for tokens of other issuers and for opaque tokens, so that the next verifier checks them. Throws
 * `LocalError` `invalid_definition` without an issuer or an audience, for algorithms with a shared secret, and for `jwks`
 * that are no set of keys.
 *
 * @example
 * ```ts
 * import { jwtVerifier, protectedResource } from "mcparley/auth";
 *
 * const issuer = "https://auth.example.com";
 * const resource = "https://example.com/mcp";
 * const auth = protectedResource({
 *   resource,
 *   issuers: [issuer],
 *   verifier: jwtVerifier({ issuer, audience: resource }),
 * });
 * ```
 */
export function jwtVerifier(options: JwtVerifierOptions): TokenVerifier {
  const issuer = checkIdentifier("issuer", options.issuer);
  const { clock = systemClock, types = ["at+jwt", "JWT"], scopesOf } = options;
  const verification = {
    issuer,
    audience: [...checkAudience(options.audience)],
    algorithms: checkAlgorithms(options.algorithms),
    clockTolerance: checkTolerance(options.clockTolerance),
    requiredClaims: ["exp"],
  };
  const jwks = checkKeys(options.jwks);
  const keys = issuerKeys({ issuer, jwks, fetch: trustedFetch(options.fetch, clock), clock });
  return async (token) => {
    if (issuerOf(token) !== issuer) return undefined;
    const now = clock.now() / 1000;
    const dated = { ...verification, currentDate: new Date(clock.now()) };
    const { payload, protectedHeader } = await verifyWithKeys(token, keys, dated).catch((error: unknown) => {
      throw toRefusal(error, { issuer, token, now });
    });
    // A JWT for another purpose, such as a logout, is refused (RFC 8725, 3.11).
    const { typ }: { typ?: unknown } = protectedHeader;
    const type = typeof typ === "string" ? typ.toLowerCase().replace(/^application\//, "") : typ;
    if (type && !types.some((one) => one.toLowerCase() === type)) {
      throw new InvalidToken("The token is not an access token.");
    }
    return tokenOf(issuer, payload, scopesOf);
  };
}

/** Throws `LocalError` `invalid_definition` unless the keys are a URL, or a set as in RFC 7517. */
function checkKeys(jwks: string | JSONWebKeySet | undefined): string | JSONWebKeySet | undefined {
  if (typeof jwks === "string") return checkUrl("jwks", jwks);
  if (jwks === undefined || (Array.isArray(jwks.keys) && jwks.keys.every(isObject))) return jwks;
  throw invalid("jwks must be a URL, or an object whose `keys` is a list of JSON Web Keys.");
}

function checkAlgorithms(given: readonly string[] = publicKeyAlgorithms): string[] {
  const other = given.find((algorithm) => !publicKeyAlgorithms.includes(algorithm));
  if (other === undefined && given.length > 0) return [...given];
  const problem =
    other === undefined
      ? "algorithms must not be empty"
      : `algorithms contains ${JSON.stringify(other)}, which is not supported`;
  throw invalid(`${problem}. Choose from ${publicKeyAlgorithms.join(", ")}.`);
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
async function verifyWithKeys(
  token: string,
  keys: IssuerKeys,
  options: JWTVerifyOptions & { readonly clockTolerance: number },
): Promise<JWTVerifyResult> {
  const known = await keys.current();
  try {
    return await verify(token, known, options);
  } catch (error) {
    if (!isKeyUnknown(error, token, known)) throw error;
    const newer = await keys.newerThan(known);
    if (typeof newer !== "number") return verify(token, newer, options);
    if (!isNewer(token, known, options.clockTolerance)) throw error;
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
  return typeof kid === "string" ? printableJson(shown(kid)) : "without kid";
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
  const unverified = "The signature of the token does not verify";
  if (error instanceof errors.JWKSNoMatchingKey)
    return new InvalidToken(`${unverified}: the issuer has no key ${keyOf(token)} for its algorithm.`);
  if (error instanceof errors.JWSSignatureVerificationFailed) return new InvalidToken(`${unverified}.`);
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
