import * as oauth from "oauth4webapi";
import { LocalError } from "../../rpc/errors.ts";
import type { Discovered } from "./discovery.ts";
import { type DpopProver, withNonce } from "./dpop.ts";
import type { GuardedFetch, GuardedInit } from "./guarded-fetch.ts";
import { toAuthorizationError } from "./oauth-error.ts";

/** The type of the grant by an assertion (RFC 7523, 2.1). */
export const JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer";
/** The type of the exchange of one token for another (RFC 8693, 2.1). */
const TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange";

/** A client as an authorization server knows it, and the function that authenticates its requests. */
export interface KnownClient {
  readonly client: oauth.Client;
  readonly authentication: oauth.ClientAuth;
}

export type TokenResponse = oauth.TokenEndpointResponse;

/** The options of each request to an endpoint of an authorization server. */
type RequestOptions = {
  headers: Record<string, string>;
  signal: AbortSignal;
  DPoP?: oauth.DPoPHandle;
  [oauth.customFetch]: GuardedFetch;
  [oauth.allowInsecureRequests]: boolean;
};

/** An authorization server, and the resource for which tokens are requested. */
type Place = Pick<Discovered, "issuer" | "metadata" | "resourceParameter">;

interface EndpointOptions {
  at: Place;
  fetch: GuardedFetch;
  /** Binds the tokens to its key. Undefined for tokens that are not bound. */
  dpop: DpopProver | undefined;
  signal: AbortSignal;
}

interface TokenRequest {
  grantType: string;
  parameters: Record<string, string>;
  recognizedTokenTypes?: oauth.RecognizedTokenTypes;
}

/** The parameters whose values are removed from errors, because a server may repeat them in its response. */
const secretParameters = [
  "code",
  "code_verifier",
  "refresh_token",
  "client_secret",
  "client_assertion",
  "assertion",
  "subject_token",
  "actor_token",
  "token",
];

/**
 * Sends requests with credentials to the endpoints of one authorization server, by oauth4webapi.
 *
 * The methods reject with `LocalError` `authorization_failed`. If the server refused the request, `data.error` is its error
 * code.
 */
export class AuthorizationEndpoints {
  readonly #at: Place;
  readonly #fetch: GuardedFetch;
  readonly #dpop: DpopProver | undefined;
  readonly #signal: AbortSignal;

  constructor({ at, fetch, dpop, signal }: EndpointOptions) {
    this.#at = at;
    this.#fetch = fetch;
    this.#dpop = dpop;
    this.#signal = signal;
  }

  /** Redeems an authorization code. `callback` is the result of `validateAuthResponse`. */
  redeem(
    { client, authentication }: KnownClient,
    { callback, redirectUri, verifier }: { callback: URLSearchParams; redirectUri: string; verifier: string },
  ): Promise<TokenResponse> {
    return this.#send("to give tokens", async (options) => {
      const more = { ...options, additionalParameters: this.#resource() };
      const as = this.#at.metadata;
      const request = [as, client, authentication, callback, redirectUri, verifier, more] as const;
      const response = await oauth.authorizationCodeGrantRequest(...request);
      return this.#checkBinding(await oauth.processAuthorizationCodeResponse(as, client, response));
    });
  }

  refresh({ client, authentication }: KnownClient, refreshToken: string): Promise<TokenResponse> {
    return this.#send("to refresh a token", async (options) => {
      const more = { ...options, additionalParameters: this.#resource() };
      const as = this.#at.metadata;
      const response = await oauth.refreshTokenGrantRequest(as, client, authentication, refreshToken, more);
      return this.#checkBinding(await oauth.processRefreshTokenResponse(as, client, response));
    });
  }

  /** Requests tokens by any other grant type. Adds the `resource` parameter. */
  request(known: KnownClient, grantType: string, parameters: Record<string, string>): Promise<TokenResponse> {
    return this.#request(known, { grantType, parameters });
  }

  /** Exchanges a token for one of another type (RFC 8693). Adds the `resource` parameter. */
  exchange(known: KnownClient, parameters: Record<string, string>): Promise<TokenResponse> {
    // "n_a" is the type of a token that is not an access token.
    return this.#request(known, { grantType: TOKEN_EXCHANGE, parameters, recognizedTokenTypes: { n_a: () => {} } });
  }

  revoke({ client, authentication }: KnownClient, token: string, hint: string): Promise<void> {
    return this.#send("to revoke a token", async (options) => {
      const more = { ...options, additionalParameters: { token_type_hint: hint } };
      const response = await oauth.revocationRequest(this.#at.metadata, client, authentication, token, more);
      await oauth.processRevocationResponse(response);
    });
  }

  /** Registers a client (RFC 7591). */
  register(metadata: Partial<oauth.Client>): Promise<oauth.OmitSymbolProperties<oauth.Client>> {
    return this.#send("to register a client", async (options) => {
      const response = await oauth.dynamicClientRegistrationRequest(this.#at.metadata, metadata, options);
      return oauth.processDynamicClientRegistrationResponse(await asRegistered(response));
    });
  }

  #request({ client, authentication }: KnownClient, asked: TokenRequest): Promise<TokenResponse> {
    const { grantType, parameters, recognizedTokenTypes = {} } = asked;
    return this.#send("to give tokens", async (options) => {
      const all = { ...this.#resource(), ...parameters };
      const as = this.#at.metadata;
      const response = await oauth.genericTokenEndpointRequest(as, client, authentication, grantType, all, options);
      const given = await oauth.processGenericTokenEndpointResponse(as, client, response, { recognizedTokenTypes });
      return this.#checkBinding(given);
    });
  }

  /** An unbound token could be used by anybody who steals it. A bound one that was not requested could not be used at all. */
  #checkBinding(response: TokenResponse): TokenResponse {
    const isBound = response.token_type === "dpop";
    if (isBound === (this.#dpop !== undefined)) return response;
    const server = `The authorization server ${JSON.stringify(this.#at.issuer)}`;
    const message = isBound
      ? `${server} gave a token that is bound to a key (DPoP), which was not asked for.`
      : `${server} gave a token that is not bound to a key, as it should be; without dpop: true it would be taken.`;
    throw new LocalError("authorization_failed", message);
  }

  #resource(): Record<string, string> {
    const { resourceParameter } = this.#at;
    return resourceParameter === undefined ? {} : { resource: resourceParameter };
  }

  async #send<T>(what: string, send: (options: RequestOptions) => Promise<T>): Promise<T> {
    const secrets = new Set<string>();
    const options: RequestOptions = {
      headers: {},
      signal: this.#signal,
      ...(this.#dpop && { DPoP: this.#dpop.handle }),
      [oauth.customFetch]: (url: string, init?: GuardedInit) => {
        noteSecrets(init, secrets);
        return this.#fetch(url, init);
      },
      // The guarded fetch decides which URLs may be requested without TLS.
      [oauth.allowInsecureRequests]: true,
    };
    try {
      return await withNonce(() => send(options));
    } catch (error) {
      if (this.#signal.aborted) throw error;
      throw await toAuthorizationError(error, { issuer: this.#at.issuer, what, secrets });
    }
  }
}

function noteSecrets(init: GuardedInit | undefined, secrets: Set<string>): void {
  const { body, headers } = init ?? {};
  if (body instanceof URLSearchParams) {
    for (const name of secretParameters) for (const value of body.getAll(name)) secrets.add(value);
  }
  const [, basic] = /^Basic (.+)$/.exec(headers?.authorization ?? "") ?? [];
  if (basic === undefined) return;
  secrets.add(basic);
  secrets.add(decodeURIComponent(atob(basic).split(":")[1]?.replaceAll("+", " ") ?? ""));
}

/** Corrects common errors that the library rejects: status 200, and a missing `client_secret_expires_at`. */
async function asRegistered(response: Response): Promise<Response> {
  if (response.status !== 200 && response.status !== 201) return response;
  const text = await response.text();
  try {
    const registered = JSON.parse(text) as Record<string, unknown>;
    return Response.json({ client_secret_expires_at: 0, ...registered }, { status: 201 });
  } catch {
    return new Response(text, { status: 201, headers: response.headers });
  }
}
