import { systemClock } from "../../rpc/clock.ts";
import { digest } from "../../rpc/digest.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import { checkProvable } from "../client-credential.ts";
import { audienceIn, clockDifference, tokenOf } from "./claims.ts";
import { withChecks } from "./load-checks.ts";
import { checkUrl, checkAudience, checkIdentifier, checkTolerance } from "./option-checks.ts";
import type { IntrospectionVerifierOptions } from "./options.ts";
import { requestGate, responseCache } from "./request-cache.ts";
import { InvalidToken, type TokenVerifier, issuerUnavailable } from "./verified-token.ts";

/** At most this many introspection requests run at the same time, and this many wait. */
const limits = { running: 64, waiting: 1_000 };

/**
 * Verifies opaque tokens by introspection (RFC 7662). Concurrent calls with one token share a request, and the response is
 * cached under a digest of the token. At most 64 requests run at the same time. If 1,000 more wait, a request with a token
 * that is not cached is answered with 503.
 *
 * It never returns undefined, so it must be the last verifier. Throws `LocalError` `invalid_definition` without an issuer,
 * an audience, or client credentials.
 *
 * @example
 * ```ts
 * import { introspectionVerifier, protectedResource } from "mcparley/auth";
 *
 * const issuer = "https://auth.example.com";
 * const resource = "https://example.com/mcp";
 * const client = { id: "notes-server", secret: process.env.CLIENT_SECRET };
 * const auth = protectedResource({
 *   resource,
 *   issuers: [issuer],
 *   verifier: introspectionVerifier({ issuer, audience: resource, client }),
 * });
 * ```
 */
export function introspectionVerifier(options: IntrospectionVerifierOptions): TokenVerifier {
  const issuer = checkIdentifier("issuer", options.issuer);
  const audience = checkAudience(options.audience);
  const tolerance = checkTolerance(options.clockTolerance);
  const { clock = systemClock, cacheTtl = 30_000, cacheSize = 10_000 } = options;
  const responses = responseCache<JsonObject>({ max: cacheSize, clock });
  if (options.endpoint !== undefined) checkUrl("endpoint", options.endpoint);
  checkProvable(options.client);
  const introspect = withChecks(({ introspection }) => introspection({ ...options, clock }));
  const gate = requestGate(limits, () =>
    issuerUnavailable(issuer, `has ${limits.waiting} introspection requests waiting`),
  );
  return async (token) => {
    const claims = await responses(await digest(token), async () => {
      const value = await gate(() => introspect(token));
      const expiry = typeof value.exp === "number" ? value.exp * 1000 : Infinity;
      return { value, expiresAt: Math.min(clock.now() + cacheTtl, expiry) };
    });
    check(claims, { issuer, audience, tolerance, now: clock.now() / 1000 });
    return tokenOf(issuer, claims, options.scopesOf);
  };
}

interface Expected {
  issuer: string;
  audience: readonly string[];
  tolerance: number;
  /** Seconds. */
  now: number;
}

/** The response states only that a token is active. Its type and its audience must be checked here (RFC 7662, 4). */
function check(claims: JsonObject, { issuer, audience, tolerance, now }: Expected): void {
  const { active, iss, exp, nbf } = claims;
  if (active !== true) throw new InvalidToken("The token is not active.");
  if (iss !== undefined && iss !== issuer) {
    throw new InvalidToken(
      `The token's "iss" is ${JSON.stringify(iss).slice(0, 300)}, expected ${JSON.stringify(issuer)}.`,
    );
  }
  if (!audienceIn(claims).some((one) => audience.includes(one)))
    throw new InvalidToken("The token is for another audience.");
  const subject = `a token of ${issuer}`;
  if (typeof exp === "number" && exp + tolerance <= now) {
    const cause = clockDifference({ claim: "exp", date: exp, now, subject, issuedAt: claims.iat });
    throw new InvalidToken("The token has expired.", { cause });
  }
  if (typeof nbf === "number" && nbf - tolerance > now) {
    const cause = clockDifference({ claim: "nbf", date: nbf, now, subject });
    throw new InvalidToken("The token is not valid yet by the clock of this server.", { cause });
  }
  if (!isAccessToken(claims)) throw new InvalidToken("The token is not an access token.");
}

/**
 * Returns whether the response describes an access token. Refresh tokens and ID tokens are also active. The type is in
 * `token_type` (RFC 7662, 2.2), or in `typ` or `token_use`, depending on the authorization server.
 */
function isAccessToken({ token_type: type, typ, token_use: use }: JsonObject): boolean {
  if (
    typeof type === "string" &&
    !/^(?:bearer|dpop|n_a|(?:urn:ietf:params:oauth:token-type:)?access_token)$/i.test(type)
  )
    return false;
  if (typeof typ === "string" && /^(?:refresh|offline|id|logout)\b/i.test(typ)) return false;
  return typeof use !== "string" || /^access(?:_token)?$/i.test(use);
}
