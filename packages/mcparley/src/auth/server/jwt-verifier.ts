import { systemClock } from "../../rpc/clock.ts";
import { isObject } from "../../rpc/messages.ts";
import { withChecks } from "./load-checks.ts";
import { checkUrl, checkAudience, checkIdentifier, checkTolerance, invalid } from "./option-checks.ts";
import type { JwtVerifierOptions } from "./options.ts";
import type { TokenVerifier } from "./verified-token.ts";

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
  const { clock = systemClock, jwks } = options;
  const verification = {
    issuer,
    audience: [...checkAudience(options.audience)],
    algorithms: checkAlgorithms(options.algorithms),
    clockTolerance: checkTolerance(options.clockTolerance),
    requiredClaims: ["exp"],
  };
  if (typeof jwks === "string") checkUrl("jwks", jwks);
  // A set as in RFC 7517.
  else if (jwks && !(Array.isArray(jwks.keys) && jwks.keys.every(isObject))) {
    throw invalid("jwks must be a URL, or an object whose `keys` is a list of JSON Web Keys.");
  }
  return withChecks(({ jwtChecks }) => jwtChecks({ ...options, clock }, verification));
}

function checkAlgorithms(algorithms: readonly string[] = publicKeyAlgorithms): string[] {
  const unsupportedAlgorithm = algorithms.find((algorithm) => !publicKeyAlgorithms.includes(algorithm));
  if (unsupportedAlgorithm === undefined && algorithms.length > 0) return [...algorithms];
  const problem =
    unsupportedAlgorithm === undefined
      ? "algorithms must not be empty"
      : `algorithms contains ${JSON.stringify(unsupportedAlgorithm)}, which is not supported`;
  throw invalid(`${problem}. Choose from ${publicKeyAlgorithms.join(", ")}.`);
}
