import type { JSONWebKeySet } from "jose";
import { type Clock, systemClock } from "../../rpc/clock.ts";
import { isObject } from "../../rpc/messages.ts";
import { withChecks } from "./load-checks.ts";
import { checkUrl, checkAudience, checkIdentifier, checkTolerance, invalid } from "./option-checks.ts";
import type { ScopesOf, TokenVerifier } from "./verified-token.ts";

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
  const setting = { verification, jwks, types, scopesOf, fetch: options.fetch, clock };
  return withChecks(({ jwtChecks }) => jwtChecks(setting));
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
