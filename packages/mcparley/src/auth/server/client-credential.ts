import * as oauth from "oauth4webapi";
import type { GuardedFetch } from "../client/guarded-fetch.ts";
import { invalid } from "./identifiers.ts";

/** How this server proves to an authorization server who it is: by a secret, or by a key whose public part is registered. */
export interface ClientCredential {
  id: string;
  secret?: string;
  /** How the secret is sent: in the `Authorization` header (`basic`), or in the body (`post`). `basic` unless given. */
  method?: "basic" | "post";
  /** Signs an assertion instead (`private_key_jwt`, RFC 7523). */
  privateKey?: oauth.PrivateKey | CryptoKey;
}

/** Throws `LocalError` `invalid_definition` where there is neither a secret nor a key. */
export function clientAuthOf({ id, secret, method = "basic", privateKey }: ClientCredential): oauth.ClientAuth {
  if (typeof id !== "string" || id === "") throw invalid("client.id is required: what this server is registered as.");
  if (privateKey) return oauth.PrivateKeyJwt(privateKey);
  if (secret === undefined || secret === "") {
    throw invalid("client.secret or client.privateKey is required: who asks has to prove who it is.");
  }
  return method === "post" ? oauth.ClientSecretPost(secret) : oauth.ClientSecretBasic(secret);
}

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
