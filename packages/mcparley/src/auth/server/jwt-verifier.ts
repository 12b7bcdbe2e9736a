import { type JSONWebKeySet, type JWTVerifyOptions, type JWTVerifyResult, decodeJwt, errors, jwtVerify } from "jose";
import { type Clock, systemClock } from "../../rpc/clock.ts";
import { type ScopesOf, tokenOf } from "./claims.ts";
import { checkAddress, checkAudience, checkIdentifier, checkTolerance, invalid } from "./identifiers.ts";
import { noAnswer, trustedFetch } from "./issuer-metadata.ts";
import { type KeyFinder, makeKeyFinder } from "./jwt-keys.ts";
import { InvalidToken, type TokenVerifier } from "./verified-token.ts";

/** Options of `jwtVerifier`. */
export interface JwtVerifierOptions {
  /** Whose tokens are accepted: exactly the `iss` that they name. */
  issuer: string;
  /** Whom tokens must be for: one of these must be in their `aud`. It is the URL of the resource with most issuers. */
  audience: string | readonly string[];
  /** The keys that tokens are signed with, or the URL where they are. Found by the issuer's metadata unless given. */
  jwks?: string | JSONWebKeySet;
  /** The algorithms that may sign. All with a public key unless given; there is no way to allow `none` or HMAC. */
  algorithms?: readonly string[];
  /** The `typ` that tokens may have. `at+jwt` and `JWT`, or none at all, unless given. */
  types?: readonly string[];
  /** Seconds by which the clocks of two machines may be apart. 30 unless given, 300 at most. */
  clockTolerance?: number;
  /** How scopes are read. From `scope`, or else `scp`, unless given. */
  scopesOf?: ScopesOf;
  /** What fetches metadata and keys, such as one that goes through a proxy. */
  fetch?: typeof fetch;
  clock?: Clock;
}

/** Those with a public key, which a verifier may know without being able to sign. */
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
 * Tokens of other issuers, and what is no JWT, are left to other verifiers. Throws `LocalError` `invalid_definition`
 * without an issuer or an audience, and for algorithms that a shared secret could sign.
 */
export function jwtVerifier(options: JwtVerifierOptions): TokenVerifier {
  const issuer = checkIdentifier("issuer", options.issuer);
  const { clock = systemClock, types = ["at+jwt", "JWT"] } = options;
  const verification: JWTVerifyOptions = {
    issuer,
    audience: [...checkAudience(options.audience)],
    algorithms: checkAlgorithms(options.algorithms),
    clockTolerance: checkTolerance(options.clockTolerance),
    requiredClaims: ["exp"],
  };
  if (typeof options.jwks === "string") checkAddress("jwks", options.jwks);
  const find = makeKeyFinder({ issuer, jwks: options.jwks, fetch: trustedFetch(options.fetch, clock), clock });
  return async (token) => {
    if (issuerOf(token) !== issuer) return undefined;
    const now = { ...verification, currentDate: new Date(clock.now()) };
    const { payload, protectedHeader } = await verify(token, find, now).catch((error: unknown) => {
      throw explained(error, issuer);
    });
    checkType(protectedHeader.typ, types);
    return tokenOf(issuer, payload, options.scopesOf);
  };
}

function checkAlgorithms(given: readonly string[] = publicKeyAlgorithms): string[] {
  const other = given.find((algorithm) => !publicKeyAlgorithms.includes(algorithm));
  if (other === undefined && given.length > 0) return [...given];
  const cure = `Choose from ${publicKeyAlgorithms.join(", ")}.`;
  throw invalid(`algorithms must all sign with a private key, which ${JSON.stringify(other ?? "")} does not. ${cure}`);
}

/** The issuer that a token names, which nothing vouches for yet; undefined for what is no JWT. */
function issuerOf(token: string): unknown {
  try {
    return decodeJwt(token).iss;
  } catch {
    return undefined;
  }
}

/** A token without `kid` may be signed with any of several keys: each is tried. */
async function verify(token: string, find: KeyFinder, options: JWTVerifyOptions): Promise<JWTVerifyResult> {
  try {
    return await jwtVerify(token, find, options);
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    for await (const key of error) {
      const verified = await jwtVerify(token, key, options).catch(orOtherKey);
      if (verified) return verified;
    }
    throw new errors.JWSSignatureVerificationFailed();
  }
}

function orOtherKey(error: unknown): undefined {
  if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
}

/** A JWT that was signed for something else, such as a logout, is no access token (RFC 8725, 3.11). */
function checkType(given: string | undefined, types: readonly string[]): void {
  if (given === undefined) return;
  const type = given.toLowerCase().replace(/^application\//, "");
  if (!types.some((one) => one.toLowerCase() === type)) throw new InvalidToken("The token is no access token.");
}

/** Says why a token is refused in words that hold nothing of it; or that its keys could not be had. */
function explained(error: unknown, issuer: string): unknown {
  if (error instanceof errors.JWTExpired) return new InvalidToken("The token has expired.");
  if (error instanceof errors.JWTClaimValidationFailed) return new InvalidToken(claimRefused(error));
  if (error instanceof errors.JOSEAlgNotAllowed)
    return new InvalidToken("The token is signed with an algorithm that is not allowed.");
  if (error instanceof errors.JWSSignatureVerificationFailed || error instanceof errors.JWKSNoMatchingKey)
    return new InvalidToken("The signature of the token does not verify.");
  if (
    error instanceof errors.JWSInvalid ||
    error instanceof errors.JWTInvalid ||
    error instanceof errors.JOSENotSupported
  ) {
    return new InvalidToken("The token is no valid JWT.");
  }
  return noAnswer(issuer, "gives no keys", error);
}

function claimRefused({ claim, reason }: errors.JWTClaimValidationFailed): string {
  if (reason === "missing") return `The token has no "${claim}".`;
  if (claim === "aud") return "The token is for another audience.";
  return claim === "nbf" ? "The token is not valid yet." : `The token's "${claim}" is not accepted.`;
}
