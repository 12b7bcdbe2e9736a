import { systemClock } from "../../rpc/clock.ts";
import { digest } from "../../rpc/digest.ts";
import type { Principal } from "../../server/core/context.ts";
import { checkProvable } from "../client-credential.ts";
import { withChecks } from "./load-checks.ts";
import { checkUrl, checkIdentifier, invalid } from "./option-checks.ts";
import type { TokenExchangeOptions, UpstreamToken } from "./options.ts";
import { responseCache } from "./request-cache.ts";
import { noUpstreamToken, principalTokens } from "./verified-token.ts";

/** Exchanges the token of a call for a token of another service. Made by `tokenExchange`. */
export interface TokenExchange {
  /**
   * Returns a token for the upstream service on behalf of the principal of a call. Tokens are cached until 30 seconds before
   * they expire, and concurrent calls with the same caller's token share one exchange.
   *
   * Rejects with `LocalError`: `unauthorized` if no token has authenticated the principal in this process, if the authorization
   * server refuses the exchange, or if it issues a JWT for another audience; `unreachable` if it does not answer.
   */
  tokenFor(call: { readonly principal: Principal | undefined }): Promise<UpstreamToken>;
}

const accessToken = "urn:ietf:params:oauth:token-type:access_token";

/**
 * Exchanges the tokens of callers for tokens for an upstream service (RFC 8693).
 *
 * A caller's token is for this server alone and must not be forwarded. A handler that calls another service gets a token
 * for it: `const { token } = await upstream.tokenFor(ctx)`. Throws `LocalError` `invalid_definition` if the options name no
 * service or no client credentials.
 *
 * @example
 * ```ts
 * import { tokenExchange } from "mcparley/auth";
 * import { tool } from "mcparley/server";
 *
 * const calendar = tokenExchange({
 *   issuer: "https://auth.example.com",
 *   client: { id: "notes-server", secret: process.env.CLIENT_SECRET },
 *   resource: "https://calendar.example.com",
 * });
 * const events = tool({
 *   call: async (_, ctx) => {
 *     const { token } = await calendar.tokenFor(ctx);
 *     const response = await fetch("https://calendar.example.com/events", {
 *       headers: { authorization: `Bearer ${token}` },
 *     });
 *     return response.text();
 *   },
 * });
 * ```
 */
export function tokenExchange(options: TokenExchangeOptions): TokenExchange {
  const { clock = systemClock, cacheSize = 1_000, tokenEndpoint, client } = options;
  checkIdentifier("issuer", options.issuer);
  if (tokenEndpoint !== undefined) checkUrl("tokenEndpoint", tokenEndpoint);
  const parameters = parametersOf(options);
  checkProvable(client);
  const exchangeToken = withChecks(({ exchange }) => exchange({ ...options, clock }, parameters));
  const responses = responseCache<UpstreamToken>({ max: cacheSize, clock });
  return {
    async tokenFor({ principal }) {
      const token = principal && principalTokens.get(principal);
      if (token === undefined) throw noUpstreamToken("the caller was not authenticated with a token in this process.");
      return responses(await digest(token), () => exchangeToken(token));
    },
  };
}

function parametersOf({ resource, audience, scopes }: TokenExchangeOptions): Record<string, string> {
  if (resource === undefined && audience === undefined) {
    throw invalid("resource or audience is required: a token without an audience would be valid for any service.");
  }
  return {
    subject_token_type: accessToken,
    requested_token_type: accessToken,
    ...(resource !== undefined && { resource }),
    ...(audience !== undefined && { audience }),
    ...(scopes && { scope: scopes.join(" ") }),
  };
}
