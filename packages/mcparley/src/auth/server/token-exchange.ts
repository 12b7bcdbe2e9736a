import * as oauth from "oauth4webapi";
import { type Clock, systemClock } from "../../rpc/clock.ts";
import { LocalError } from "../../rpc/errors.ts";
import type { Principal } from "../../server/dispatch/context.ts";
import { clientAuthentication } from "../client-authentication.ts";
import { type ClientCredential, checkProvable } from "../client-credential.ts";
import { type Answer, AnswerCache } from "./answer-cache.ts";
import { digest } from "../../rpc/digest.ts";
import { checkAddress, checkIdentifier, invalid } from "./identifiers.ts";
import { IssuerMetadata, trustedFetch } from "./issuer-metadata.ts";
import { requestOptions } from "./request-options.ts";
import { keptToken } from "./subject-tokens.ts";

export interface TokenExchangeOptions {
  /** The authorization server that exchanges tokens. */
  issuer: string;
  /** As whom this server asks. */
  client: ClientCredential;
  /** The upstream service by its URL, or by the name that the authorization server has for it; at least one of both. */
  resource?: string;
  audience?: string;
  /** What the upstream token is to allow. What the authorization server chooses unless given. */
  scopes?: readonly string[];
  /** Where to ask. Found by the issuer's metadata unless given. */
  tokenEndpoint?: string;
  /** The most tokens that are kept. 1,000 unless given. */
  cacheSize?: number;
  /** What asks, such as one that goes through a proxy. */
  fetch?: typeof fetch;
  clock?: Clock;
}

/** A token for an upstream service, in the name of whoever called. */
export interface UpstreamToken {
  readonly token: string;
  readonly scopes: readonly string[] | undefined;
}

export interface TokenExchange {
  /**
   * Gets a token for the upstream service in the name of a call's principal, or the one that was got before and is good
   * for some time yet. Calls with the same token of their own wait for one exchange.
   *
   * Rejects with `LocalError`: `unauthorized` where the call has no principal that a token of this process
   * authenticated, or the authorization server refuses; `unreachable` where it cannot be asked.
   */
  tokenFor(call: { readonly principal: Principal | undefined }): Promise<UpstreamToken>;
}

const accessToken = "urn:ietf:params:oauth:token-type:access_token";
const grantType = "urn:ietf:params:oauth:grant-type:token-exchange";
/** Milliseconds for which a token must still be good, so that it does not expire on its way. */
const reserve = 30_000;
/** Milliseconds for which a token is kept whose issuer does not say how long it lives. */
const unsaid = 60_000;

/**
 * Gets tokens for an upstream service in exchange for those that callers show (RFC 8693).
 *
 * What a caller shows is for this server alone and is never passed on; a handler that calls another service asks here for
 * a token of its own: `const { token } = await upstream.tokenFor(ctx)`. Throws `LocalError` `invalid_definition` where
 * the options name no service, or no way to prove who asks.
 */
export function tokenExchange(options: TokenExchangeOptions): TokenExchange {
  const { clock = systemClock, cacheSize = 1_000 } = options;
  const ask = exchanging(options, clock);
  const answers = new AnswerCache<UpstreamToken>({ max: cacheSize, clock });
  return {
    async tokenFor({ principal }) {
      const token = principal && keptToken(principal);
      if (token === undefined) throw unauthorized("there is no caller whose token could be exchanged");
      return answers.get(await digest(token), () => ask(token));
    },
  };
}

function exchanging(options: TokenExchangeOptions, clock: Clock): (token: string) => Promise<Answer<UpstreamToken>> {
  const { client, tokenEndpoint } = options;
  const issuer = checkIdentifier("issuer", options.issuer);
  if (tokenEndpoint !== undefined) checkAddress("tokenEndpoint", tokenEndpoint);
  const parameters = parametersOf(options);
  checkProvable(client);
  const authentication = clientAuthentication(client);
  const fetch = trustedFetch(options.fetch, clock);
  const metadata = new IssuerMetadata(issuer, fetch, clock);
  const asClient = { client_id: client.id };
  return async (token) => {
    const server = tokenEndpoint === undefined ? await metadata.get() : { issuer, token_endpoint: tokenEndpoint };
    const asked = { ...parameters, subject_token: token, subject_token_type: accessToken };
    const clientAuth = await authentication(server);
    const response = await oauth
      .genericTokenEndpointRequest(server, asClient, clientAuth, grantType, asked, requestOptions(fetch))
      .catch(notAsked);
    const given = await oauth
      .processGenericTokenEndpointResponse(server, asClient, response, { recognizedTokenTypes: { n_a: () => {} } })
      .catch(notGiven);
    const { access_token: upstream, expires_in: seconds, scope } = given;
    const until = clock.now() + (seconds === undefined ? unsaid : seconds * 1000 - reserve);
    return { value: { token: upstream, scopes: scope?.split(" ") }, until };
  };
}

function parametersOf({ resource, audience, scopes }: TokenExchangeOptions): Record<string, string> {
  if (resource === undefined && audience === undefined) {
    throw invalid("resource or audience is required: a token that is for nobody in particular is good everywhere.");
  }
  return {
    requested_token_type: accessToken,
    ...(resource !== undefined && { resource }),
    ...(audience !== undefined && { audience }),
    ...(scopes && { scope: scopes.join(" ") }),
  };
}

function notAsked(error: unknown): never {
  if (error instanceof LocalError) throw error;
  throw new LocalError("unreachable", "The authorization server could not be asked for an upstream token.", {
    cause: error,
  });
}

/** The authorization server's reason is an OAuth error code; what else it sent may hold the token, and is left out. */
function notGiven(error: unknown): never {
  const code = error instanceof oauth.ResponseBodyError ? error.error : "its answer is not as it should be";
  throw unauthorized(`the authorization server refused (${code})`);
}

function unauthorized(why: string): LocalError {
  return new LocalError("unauthorized", `No upstream token can be had: ${why}.`);
}
