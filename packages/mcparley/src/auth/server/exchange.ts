import * as oauth from "oauth4webapi";
import type { Clock } from "../../rpc/clock.ts";
import { LocalError } from "../../rpc/errors.ts";
import type { ClientCredential } from "../client-credential.ts";
import { issuerClient } from "./issuer.ts";
import type { CachedResponse } from "./request-cache.ts";
import type { UpstreamToken } from "./token-exchange.ts";
import { noUpstreamToken } from "./verified-token.ts";

const grantType = "urn:ietf:params:oauth:grant-type:token-exchange";
/** Minimum remaining lifetime of a token in milliseconds, so that it does not expire during a request. */
const reserve = 30_000;
/** Milliseconds for which a token without a stated lifetime is cached. Some servers write 0 for it. */
const defaultLifetime = 60_000;

/** Exchanges the token of a caller. */
export type ExchangeToken = (token: string) => Promise<CachedResponse<UpstreamToken>>;

interface ExchangeSettings {
  issuer: string;
  client: ClientCredential;
  /** Default: the one in the issuer's metadata. */
  endpoint: string | undefined;
  /** The parameters of each request, except the token. */
  parameters: Readonly<Record<string, string>>;
  fetch: typeof fetch | undefined;
  clock: Clock;
}

/** Makes the function that exchanges tokens. In a file of its own, because it loads oauth4webapi. */
export function exchange({ issuer, client, endpoint, parameters, fetch, clock }: ExchangeSettings): ExchangeToken {
  const prepare = issuerClient({
    issuer,
    client,
    clock,
    ...(fetch && { fetch }),
    endpoint: endpoint === undefined ? undefined : { token_endpoint: endpoint },
  });
  return async (token) => {
    const { server, client, authentication, options } = await prepare();
    const all = { ...parameters, subject_token: token };
    const response = await oauth
      .genericTokenEndpointRequest(server, client, authentication, grantType, all, options)
      .catch((cause: unknown) => {
        if (cause instanceof LocalError) throw cause;
        const message = "The request for an upstream token could not be sent to the authorization server.";
        throw new LocalError("unreachable", message, { cause });
      });
    const issued = await oauth
      .processGenericTokenEndpointResponse(server, client, response, { recognizedTokenTypes: { n_a: () => {} } })
      .catch((error: unknown) => {
        // Only the OAuth error code is shown, because the rest of the response may contain the token.
        const code = error instanceof oauth.ResponseBodyError ? error.error : "invalid response";
        throw noUpstreamToken(`the authorization server refused (${code})`);
      });
    const { access_token: upstream, expires_in: seconds, scope } = issued;
    const until = clock.now() + (seconds ? seconds * 1000 - reserve : defaultLifetime);
    return { value: { token: upstream, scopes: scope?.split(" ") }, until };
  };
}
