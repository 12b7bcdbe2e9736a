import * as oauth from "oauth4webapi";
import type { Clock } from "../../rpc/clock.ts";
import { LocalError } from "../../rpc/errors.ts";
import { type GuardedFetch, makeGuardedFetch } from "../client/guarded-fetch.ts";
import { discoverIssuer } from "../client/metadata.ts";
import { withCooldown } from "./request-cache.ts";

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

/** Returns the options for requests of oauth4webapi. TLS is required by the fetch and by the checks of the options. */
export function requestOptions(fetch: GuardedFetch): {
  [oauth.allowInsecureRequests]: boolean;
  [oauth.customFetch]: (url: string, init: oauth.CustomFetchOptions<"POST", URLSearchParams>) => Promise<Response>;
} {
  return {
    [oauth.allowInsecureRequests]: true,
    [oauth.customFetch]: (url, { method, headers, body }) => fetch(url, { method, headers, body }),
  };
}

/** Returns the metadata of an authorization server. Rejects with `LocalError` `unreachable` if it cannot be fetched. */
export type IssuerMetadata = () => Promise<oauth.AuthorizationServer>;

/** Fetches the metadata of one authorization server on first use, and again after an hour. */
export function issuerMetadata(issuer: string, fetch: GuardedFetch, clock: Clock): IssuerMetadata {
  const discover = withCooldown(() => discoverIssuer(fetch, issuer), { pause, clock });
  let known: { metadata: oauth.AuthorizationServer; until: number } | undefined;
  return async () => {
    if (known && clock.now() < known.until) return known.metadata;
    try {
      const metadata = await discover();
      known = { metadata, until: clock.now() + lifetime };
      return metadata;
    } catch (cause) {
      // Old metadata is better than refusing all callers while the authorization server is down.
      if (known) return known.metadata;
      throw noAnswer(issuer, "has no metadata that could be read", cause);
    }
  };
}

/** The error if an authorization server cannot be asked, so that the validity of a token is unknown. */
export function noAnswer(issuer: string, why: string, cause?: unknown): LocalError {
  const message = `The authorization server ${issuer} ${why}: its tokens cannot be checked.`;
  return new LocalError("unreachable", message, { cause });
}
