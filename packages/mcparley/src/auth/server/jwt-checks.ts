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
import type { Clock } from "../../rpc/clock.ts";
import type { GuardedFetch } from "../client/guarded-fetch.ts";
import { issuerMetadata, trustedFetch } from "./issuer.ts";
import { withCooldown } from "./request-cache.ts";
import { InvalidToken, type ScopesOf, type TokenVerifier, issuerUnavailable, tokenOf } from "./verified-token.ts";

/** The checked options of `jwtVerifier`. */
export interface JwtSettings {
  readonly issuer: string;
  /** The keys, or their URL. Default: the `jwks_uri` in the issuer's metadata. */
  readonly jwks: string | JSONWebKeySet | undefined;
  readonly verification: JWTVerifyOptions;
  /** The accepted values of `typ`. */
  readonly types: readonly string[];
  readonly scopesOf: ScopesOf | undefined;
  readonly fetch: typeof fetch | undefined;
  readonly clock: Clock;
}

/** Makes the verifier of `jwtVerifier`. In a file of its own, because it loads jose. */
export function jwtChecks({ issuer, jwks, verification, types, scopesOf, fetch, clock }: JwtSettings): TokenVerifier {
  const find = makeKeyFinder({ issuer, jwks, fetch: trustedFetch(fetch, clock), clock });
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
  return claim === "nbf"
    ? "The token is not valid yet by the clock of this server."
    : `The token's "${claim}" is not accepted.`;
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
