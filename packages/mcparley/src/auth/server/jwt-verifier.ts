import {
  type CryptoKey,
  type FlattenedJWSInput,
  type JSONWebKeySet,
  type JWTHeaderParameters,
  type JWTVerifyOptions,
  type JWTVerifyResult,
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  decodeJwt,
  errors,
  jwtVerify,
} from "jose";
import { type Clock, systemClock } from "../../rpc/clock.ts";
import type { GuardedFetch } from "../client/guarded-fetch.ts";
import { issuerMetadata, issuerUnavailable, trustedFetch } from "./issuer.ts";
import { checkUrl, checkAudience, checkIdentifier, checkTolerance, invalid } from "./option-checks.ts";
import { withCooldown } from "./request-cache.ts";
import { InvalidToken, type ScopesOf, type TokenVerifier, tokenOf } from "./verified-token.ts";

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
 * `LocalError` `invalid_definition` without an issuer or an audience, and for algorithms with a shared secret.
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
  const { clock = systemClock, types = ["at+jwt", "JWT"] } = options;
  const verification: JWTVerifyOptions = {
    issuer,
    audience: [...checkAudience(options.audience)],
    algorithms: checkAlgorithms(options.algorithms),
    clockTolerance: checkTolerance(options.clockTolerance),
    requiredClaims: ["exp"],
  };
  if (typeof options.jwks === "string") checkUrl("jwks", options.jwks);
  const find = makeKeyFinder({ issuer, jwks: options.jwks, fetch: trustedFetch(options.fetch, clock), clock });
  return async (token) => {
    if (issuerOf(token) !== issuer) return undefined;
    const now = { ...verification, currentDate: new Date(clock.now()) };
    const { payload, protectedHeader } = await verify(token, find, now).catch((error: unknown) => {
      throw toInvalidToken(error, issuer);
    });
    // A JWT for another purpose, such as a logout, is refused (RFC 8725, 3.11).
    const type = protectedHeader.typ?.toLowerCase().replace(/^application\//, "");
    if (type !== undefined && !types.some((one) => one.toLowerCase() === type)) {
      throw new InvalidToken("The token is not an access token.");
    }
    return tokenOf(issuer, payload, options.scopesOf);
  };
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

/** Verifies a token. If several keys match, as for a token without `kid`, each is tried. */
async function verify(token: string, find: KeyFinder, options: JWTVerifyOptions): Promise<JWTVerifyResult> {
  try {
    return await jwtVerify(token, find, options);
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    for await (const key of error) {
      try {
        return await jwtVerify(token, key, options);
      } catch (other) {
        if (!(other instanceof errors.JWSSignatureVerificationFailed)) throw other;
      }
    }
    throw new errors.JWSSignatureVerificationFailed();
  }
}

/** Converts an error of jose to `InvalidToken`, or to `LocalError` `unreachable`. The message contains no part of the token. */
function toInvalidToken(error: unknown, issuer: string): unknown {
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
    return new InvalidToken("The token is not a valid JWT.");
  }
  return issuerUnavailable(issuer, "did not return its public keys", error);
}

function claimRefused({ claim, reason }: errors.JWTClaimValidationFailed): string {
  if (reason === "missing") return `The token has no "${claim}".`;
  if (claim === "aud") return "The token is for another audience.";
  return claim === "nbf" ? "The token is not valid yet." : `The token's "${claim}" is not accepted.`;
}

/** Returns the public key for a token, by its header. */
type KeyFinder = (header: JWTHeaderParameters, token: FlattenedJWSInput) => Promise<CryptoKey>;

interface KeysOptions {
  issuer: string;
  /** The keys, or their URL. Default: the `jwks_uri` in the issuer's metadata. */
  jwks: string | JSONWebKeySet | undefined;
  fetch: GuardedFetch;
  clock: Clock;
}

/**
 * Makes the key finder of an issuer.
 *
 * Keys are fetched on first use and every 10 minutes. For an unknown key, as after a rotation, they are fetched at most
 * every 30 seconds, so that forged tokens cannot cause many requests.
 */
function makeKeyFinder({ issuer, jwks, fetch, clock }: KeysOptions): KeyFinder {
  if (typeof jwks === "object") return createLocalJWKSet(jwks);
  const metadata = issuerMetadata(issuer, fetch, clock);
  let current: { uri: string; find: KeyFinder } | undefined;
  return async (header, token) => {
    const uri = jwks ?? (await metadata()).jwks_uri;
    if (uri === undefined) throw issuerUnavailable(issuer, "has no jwks_uri in its metadata");
    if (current?.uri !== uri) current = { uri, find: remoteKeys(uri, fetch, clock) };
    return current.find(header, token);
  };
}

function remoteKeys(uri: string, fetch: GuardedFetch, clock: Clock): KeyFinder {
  const load = withCooldown(
    async () => {
      const response = await fetch(uri, { headers: { accept: "application/json, application/jwk-set+json" } });
      if (response.status !== 200) throw new Error(`${uri} responded with status ${response.status} instead of keys.`);
      return response.text();
    },
    { pause: 5_000, clock },
  );
  return createRemoteJWKSet(new URL(uri), { [customFetch]: async () => new Response(await load()) });
}
