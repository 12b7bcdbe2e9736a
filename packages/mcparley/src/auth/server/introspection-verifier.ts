import * as oauth from "oauth4webapi";
import { type Clock, systemClock } from "../../rpc/clock.ts";
import type { JsonObject } from "../../rpc/messages.ts";
import { clientAuthentication } from "../client-authentication.ts";
import { type ClientCredential, checkProvable } from "../client-credential.ts";
import { type Answer, AnswerCache } from "./answer-cache.ts";
import { type ScopesOf, audienceIn, tokenOf } from "./claims.ts";
import { digest } from "../../rpc/digest.ts";
import { checkAddress, checkAudience, checkIdentifier, checkTolerance } from "./identifiers.ts";
import { IssuerMetadata, noAnswer, trustedFetch } from "./issuer-metadata.ts";
import { requestOptions } from "./request-options.ts";
import { InvalidToken, type TokenVerifier } from "./verified-token.ts";

export interface IntrospectionVerifierOptions {
  /** Whose tokens are accepted; an `iss` in the answer must be exactly this. */
  issuer: string;
  /** Whom tokens must be for: one of these must be in the `aud` of the answer. */
  audience: string | readonly string[];
  /** As whom this server asks. */
  client: ClientCredential;
  /** Where to ask. Found by the issuer's metadata unless given. */
  endpoint?: string;
  /**
   * Milliseconds for which an answer is taken again: a token that is revoked is accepted for as long. 30,000 unless
   * given; 0 asks for each request.
   */
  cacheTtl?: number;
  /** The most answers that are kept. 10,000 unless given. */
  cacheSize?: number;
  /** Seconds by which the clocks of two machines may be apart. 30 unless given, 300 at most. */
  clockTolerance?: number;
  /** How scopes are read. From `scope` unless given. */
  scopesOf?: ScopesOf;
  /** What asks, such as one that goes through a proxy. */
  fetch?: typeof fetch;
  clock?: Clock;
}

/**
 * Verifies opaque tokens by asking their issuer (RFC 7662). One question is asked at a time for a token, and the answer is
 * kept under a digest of it.
 *
 * It judges every token that it is given: put it after verifiers that know their own. Throws `LocalError`
 * `invalid_definition` without an issuer, an audience, or a way to prove who asks.
 */
export function introspectionVerifier(options: IntrospectionVerifierOptions): TokenVerifier {
  const issuer = checkIdentifier("issuer", options.issuer);
  const audience = checkAudience(options.audience);
  const tolerance = checkTolerance(options.clockTolerance);
  const { clock = systemClock, cacheTtl = 30_000, cacheSize = 10_000 } = options;
  const answers = new AnswerCache<JsonObject>({ max: cacheSize, clock });
  const ask = asking(options, issuer, clock);
  const keep = async (token: string): Promise<Answer<JsonObject>> => {
    const value = await ask(token);
    return { value, until: Math.min(clock.now() + cacheTtl, expiryOf(value)) };
  };
  return async (token) => {
    const claims = await answers.get(await digest(token), () => keep(token));
    check(claims, { issuer, audience, tolerance, now: clock.now() / 1000 });
    return tokenOf(issuer, claims, options.scopesOf);
  };
}

function asking(
  options: IntrospectionVerifierOptions,
  issuer: string,
  clock: Clock,
): (token: string) => Promise<JsonObject> {
  const { client, endpoint } = options;
  if (endpoint !== undefined) checkAddress("endpoint", endpoint);
  checkProvable(client);
  const authentication = clientAuthentication(client);
  const fetch = trustedFetch(options.fetch, clock);
  const metadata = new IssuerMetadata(issuer, fetch, clock);
  const asClient = { client_id: client.id };
  return async (token) => {
    const server = endpoint === undefined ? await metadata.get() : { issuer, introspection_endpoint: endpoint };
    try {
      const response = await oauth.introspectionRequest(server, asClient, await authentication(server), token, {
        ...requestOptions(fetch),
        additionalParameters: { token_type_hint: "access_token" },
      });
      return await oauth.processIntrospectionResponse(server, asClient, response);
    } catch (cause) {
      throw noAnswer(issuer, "did not answer by introspection", cause);
    }
  };
}

interface Expected {
  issuer: string;
  audience: readonly string[];
  tolerance: number;
  /** Seconds. */
  now: number;
}

/** An answer is only that a token is alive: what it is, and for whom, is for the asker to check (RFC 7662, 4). */
function check(claims: JsonObject, { issuer, audience, tolerance, now }: Expected): void {
  const { active, iss, exp, nbf, token_type: type } = claims;
  if (active !== true) throw new InvalidToken("The token is not active.");
  if (iss !== undefined && iss !== issuer) throw new InvalidToken('The token\'s "iss" is not accepted.');
  if (!audienceIn(claims).some((one) => audience.includes(one)))
    throw new InvalidToken("The token is for another audience.");
  if (typeof exp === "number" && exp + tolerance <= now) throw new InvalidToken("The token has expired.");
  if (typeof nbf === "number" && nbf - tolerance > now) throw new InvalidToken("The token is not valid yet.");
  // Refresh tokens are active too.
  if (typeof type === "string" && !/^(?:bearer|dpop|n_a)$/i.test(type))
    throw new InvalidToken("The token is no access token.");
}

function expiryOf({ exp }: JsonObject): number {
  return typeof exp === "number" ? exp * 1000 : Infinity;
}
