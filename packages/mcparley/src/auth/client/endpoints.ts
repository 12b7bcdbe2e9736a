import type * as oauth from "oauth4webapi";
import { LocalError } from "../../rpc/errors.ts";
import type { Discovered } from "./discovery.ts";
import { type DpopProver, withNonce } from "./dpop.ts";
import { TOKEN_EXCHANGE } from "./grant-types.ts";
import type { GuardedFetch, GuardedInit } from "./guarded-fetch.ts";
import { toAuthorizationError } from "./oauth-error.ts";

/** A client as an authorization server knows it, and how it proves to be it. */
export interface KnownClient {
  readonly client: oauth.Client;
  readonly authentication: oauth.ClientAuth;
}

export type TokenResponse = oauth.TokenEndpointResponse;
type Library = typeof oauth;
/** What goes with each request to an endpoint of an authorization server. */
type RequestOptions = {
  headers: Record<string, string>;
  signal: AbortSignal;
  DPoP?: oauth.DPoPHandle;
  [oauth.customFetch]: GuardedFetch;
  [oauth.allowInsecureRequests]: boolean;
};

/** Where an authorization server is, and what tokens are asked for there. */
type Place = Pick<Discovered, "issuer" | "metadata" | "resourceParameter">;

interface EndpointOptions {
  at: Place;
  fetch: GuardedFetch;
  /** Binds the tokens to its key. */
  dpop: DpopProver | undefined;
  signal: AbortSignal;
}

interface Asked {
  grantType: string;
  parameters: Record<string, string>;
  recognizedTokenTypes?: oauth.RecognizedTokenTypes;
}

/** The parameters whose values nobody may see: what a request sends, a server may repeat in what it answers. */
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
 * Speaks with the endpoints of one authorization server that a client sends its credentials to.
 *
 * All of it is done by oauth4webapi; what that throws becomes `LocalError` `authorization_failed`, whose `data.error` is
 * the code with which the server refused.
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

  /** Redeems the code that a person came back with; `callback` is what `validateAuthResponse` gave. */
  redeem(known: KnownClient, callback: URLSearchParams, redirectUri: string, verifier: string): Promise<TokenResponse> {
    return this.#ask("to give tokens", async (library, options) => {
      const { client, authentication } = known;
      const more = { ...options, additionalParameters: this.#resource() };
      const as = this.#at.metadata;
      const response = await library.authorizationCodeGrantRequest(
        as,
        client,
        authentication,
        callback,
        redirectUri,
        verifier,
        more,
      );
      return this.#checkBinding(await library.processAuthorizationCodeResponse(as, client, response));
    });
  }

  refresh({ client, authentication }: KnownClient, refreshToken: string): Promise<TokenResponse> {
    return this.#ask("to refresh a token", async (library, options) => {
      const more = { ...options, additionalParameters: this.#resource() };
      const as = this.#at.metadata;
      const response = await library.refreshTokenGrantRequest(as, client, authentication, refreshToken, more);
      return this.#checkBinding(await library.processRefreshTokenResponse(as, client, response));
    });
  }

  /** Asks for tokens by a grant of any other type; `resource` is added. */
  request(known: KnownClient, grantType: string, parameters: Record<string, string>): Promise<TokenResponse> {
    return this.#request(known, { grantType, parameters });
  }

  /** Exchanges a token for one of another type (RFC 8693); `resource` is added. Servers need not be shown what comes of it. */
  exchange(known: KnownClient, parameters: Record<string, string>): Promise<TokenResponse> {
    return this.#request(known, { grantType: TOKEN_EXCHANGE, parameters, recognizedTokenTypes: { n_a: () => {} } });
  }

  revoke({ client, authentication }: KnownClient, token: string, hint: string): Promise<void> {
    return this.#ask("to revoke a token", async (library, options) => {
      const more = { ...options, additionalParameters: { token_type_hint: hint } };
      const response = await library.revocationRequest(this.#at.metadata, client, authentication, token, more);
      await library.processRevocationResponse(response);
    });
  }

  /** Registers a client (RFC 7591). */
  register(metadata: Partial<oauth.Client>): Promise<oauth.OmitSymbolProperties<oauth.Client>> {
    return this.#ask("to register a client", async (library, options) => {
      const response = await library.dynamicClientRegistrationRequest(this.#at.metadata, metadata, options);
      return library.processDynamicClientRegistrationResponse(await asRegistered(response));
    });
  }

  #request({ client, authentication }: KnownClient, asked: Asked): Promise<TokenResponse> {
    const { grantType, parameters, recognizedTokenTypes = {} } = asked;
    return this.#ask("to give tokens", async (library, options) => {
      const all = { ...this.#resource(), ...parameters };
      const as = this.#at.metadata;
      const response = await library.genericTokenEndpointRequest(as, client, authentication, grantType, all, options);
      const given = await library.processGenericTokenEndpointResponse(as, client, response, { recognizedTokenTypes });
      return this.#checkBinding(given);
    });
  }

  /** A token that is not bound as it should be is good for whoever has it; one that is and should not be, for nobody. */
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

  async #ask<T>(what: string, ask: (library: Library, options: RequestOptions) => Promise<T>): Promise<T> {
    const library = await import("oauth4webapi");
    const secrets = new Set<string>();
    const options: RequestOptions = {
      headers: {},
      signal: this.#signal,
      ...(this.#dpop && { DPoP: this.#dpop.handle }),
      [library.customFetch]: (url: string, init?: GuardedInit) => {
        noteSecrets(init, secrets);
        return this.#fetch(url, init);
      },
      // What may go without TLS is decided by the fetch.
      [library.allowInsecureRequests]: true,
    };
    try {
      return await withNonce(() => ask(library, options));
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

/** The response as the library wants it: many servers answer with 200, or leave out when a secret expires. */
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
