import * as oauth from "oauth4webapi";
import type { GuardedFetch } from "../client/guarded-fetch.ts";

/** How oauth4webapi is to ask. What may be asked without TLS is for the fetch to say, and for whoever checked the options. */
export function requestOptions(fetch: GuardedFetch): {
  [oauth.allowInsecureRequests]: boolean;
  [oauth.customFetch]: (url: string, init: oauth.CustomFetchOptions<"POST", URLSearchParams>) => Promise<Response>;
} {
  return {
    [oauth.allowInsecureRequests]: true,
    [oauth.customFetch]: (url, { method, headers, body }) => fetch(url, { method, headers, body }),
  };
}
