import * as oauth from "oauth4webapi";
import type { Clock } from "../../../rpc/clock.ts";
import { type AsClient, type AuthenticatedEndpoint, clientAuthentication } from "../../client-authentication.ts";
import type { ClientCredential } from "../../client-credential.ts";
import { type GuardedFetch, makeGuardedFetch } from "../../client/guarded-fetch.ts";
import { discoverIssuer } from "../../client/discovery/metadata.ts";
import { toAuthorizationError } from "../../client/oauth-error.ts";
import { withCooldown } from "../request-cache.ts";
import { issuerUnavailable } from "../verified-token.ts";

/** Milliseconds for which the metadata of an authorization server is used. */
const lifetime = 3_600_000;
/** Milliseconds without a request after a failure. */
const pause = 5_000;
/** Milliseconds for one request. */
const timeout = 5_000;

/** Makes the `fetch` for authorization servers. Private addresses are allowed, because the server's options name them. */
export function trustedFetch(fetch: typeof globalThis.fetch | undefined, clock: Clock): GuardedFetch {
  return makeGuardedFetch({ allowPrivate: true, fetch, clock, timeout });
}

interface RequestOptions {
  [oauth.allowInsecureRequests]: boolean;
  [oauth.customFetch]: (url: string, init: oauth.CustomFetchOptions<"POST", URLSearchParams>) => Promise<Response>;
}

interface IssuerClientOptions {
  issuer: string;
  client: ClientCredential;
  fetch?: typeof globalThis.fetch | undefined;
  clock: Clock;
}

/** A request about the token of a caller. */
interface TokenRequest {
  /** It is removed from errors. */
  readonly token: string;
  /** The request in words, such as "to introspect a token". */
  readonly what: string;
}

/** Sends a request as a client. Rejects with `LocalError`. */
type SendAsClient = <T>(
  request: TokenRequest,
  send: (as: AsClient, options: RequestOptions) => Promise<T>,
) => Promise<T>;

/**
 * Makes this server a client of an authorization server, and returns the function that sends its requests to an endpoint. If the URL of
 * the endpoint is known, the metadata of the issuer is not fetched.
 */
export function issuerClient(
  { issuer, client, clock, fetch: customFetch }: IssuerClientOptions,
  endpoint: AuthenticatedEndpoint,
  url: string | undefined,
): SendAsClient {
  const authentication = clientAuthentication(client, endpoint);
  const fetch = trustedFetch(customFetch, clock);
  const metadata = issuerMetadata(issuer, fetch, clock);
  const requestOptions: RequestOptions = {
    // TLS is required by the fetch and by the checks of the options.
    [oauth.allowInsecureRequests]: true,
    [oauth.customFetch]: (url, { method, headers, body }) => {
      // oxlint-disable-next-line unicorn/no-invalid-fetch-options -- the method is a variable.
      return fetch(url, { method, headers, body });
    },
  };
  return async ({ token, what }, send) => {
    try {
      const server = url === undefined ? await metadata() : { issuer, [endpoint]: url };
      return await send([server, { client_id: client.id }, await authentication(server)], requestOptions);
    } catch (error) {
      throw await toAuthorizationError(error, { issuer, what, secrets: [token, client.secret ?? ""] });
    }
  };
}

/** Returns the metadata of an authorization server. Rejects with `LocalError` `unreachable` if it cannot be fetched. */
type IssuerMetadata = () => Promise<oauth.AuthorizationServer>;

/** Fetches the metadata of one authorization server on first use, and again after an hour. */
export function issuerMetadata(issuer: string, fetch: GuardedFetch, clock: Clock): IssuerMetadata {
  const discover = withCooldown(() => discoverIssuer(fetch, issuer), { pause, clock });
  let cachedMetadata: { metadata: oauth.AuthorizationServer; expiresAt: number } | undefined;
  return async () => {
    if (cachedMetadata && clock.now() < cachedMetadata.expiresAt) return cachedMetadata.metadata;
    try {
      const metadata = await discover();
      cachedMetadata = { metadata, expiresAt: clock.now() + lifetime };
      return metadata;
    } catch (cause) {
      // Old metadata is better than refusing all callers while the authorization server is down.
      if (cachedMetadata) return cachedMetadata.metadata;
      throw issuerUnavailable(issuer, "has no readable metadata", cause);
    }
  };
}
