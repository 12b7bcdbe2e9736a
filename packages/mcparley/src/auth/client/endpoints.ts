import * as oauth from "oauth4webapi";
import { nameOf } from "../../http/client/settings.ts";
import { LocalError } from "../../rpc/errors.ts";
import { isObject } from "../../rpc/messages.ts";
import type { Discovered } from "./discovery.ts";
import { type DpopProver, withNonce } from "./dpop.ts";
import type { GuardedFetch, GuardedInit } from "./guarded-fetch.ts";
import { withClockRemark } from "./clock-remark.ts";
import { isClientRefusal, jsonIn, refusalCode, refusedTwice, toAuthorizationError } from "./oauth-error.ts";

/** A client as an authorization server knows it, and the function that authenticates its requests. */
export interface KnownClient {
  readonly client: oauth.Client;
  readonly authentication: oauth.ClientAuth;
  /** Tried once if the server refuses `authentication`. Undefined if the method of the client is certain. */
  readonly alternative?: AlternativeAuthentication;
}

interface AlternativeAuthentication {
  readonly authentication: oauth.ClientAuth;
  /** The method that the server refused before. */
  readonly refusedMethod: string;
  /** Called after the server has accepted the alternative. */
  remember(this: void): Promise<void>;
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

/** The endpoints of one authorization server, and how requests are sent to them. */
export interface Endpoints {
  /** The authorization server, and the resource for which tokens are requested. */
  readonly at: Discovered;
  readonly fetch: GuardedFetch;
  /** Binds the tokens to its key. Undefined for tokens that are not bound. */
  readonly dpop: DpopProver | undefined;
  /** Receives a line of text for each step. */
  readonly report: (this: void, step: string) => void;
  readonly signal: AbortSignal;
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

/** Redeems an authorization code. `callback` is the result of `validateAuthResponse`. */
export function redeemCode(
  endpoints: Endpoints,
  known: KnownClient,
  { callback, redirectUri, verifier }: { callback: URLSearchParams; redirectUri: string; verifier: string },
): Promise<TokenResponse> {
  const as = endpoints.at.metadata;
  return sendAs({ known, endpoints, what: "to issue tokens" }, async ({ client, authentication }, options) => {
    const more = { ...options, additionalParameters: resourceParameter(endpoints) };
    const request = [as, client, authentication, callback, redirectUri, verifier, more] as const;
    const response = await oauth.authorizationCodeGrantRequest(...request);
    const issued = await oauth.processAuthorizationCodeResponse(as, client, await withoutEmptyMembers(response));
    return checkBinding(endpoints, issued);
  });
}

/** Requests new tokens with a refresh token. `what` is the request in words, such as "to refresh tokens". */
export function refreshToken(
  endpoints: Endpoints,
  known: KnownClient,
  { token, what }: { token: string; what: string },
): Promise<TokenResponse> {
  const as = endpoints.at.metadata;
  return sendAs({ known, endpoints, what }, async ({ client, authentication }, options) => {
    const more = { ...options, additionalParameters: resourceParameter(endpoints) };
    const response = await oauth.refreshTokenGrantRequest(as, client, authentication, token, more);
    const issued = await oauth.processRefreshTokenResponse(as, client, await withoutEmptyMembers(response));
    return checkBinding(endpoints, issued);
  });
}

interface TokenRequest {
  grantType: string;
  parameters: Record<string, string>;
  /** The types of issued tokens, in addition to those of access tokens. */
  recognizedTokenTypes?: oauth.RecognizedTokenTypes;
}

/** Requests tokens by any other grant type. Adds the `resource` parameter. */
export function requestTokens(
  endpoints: Endpoints,
  known: KnownClient,
  { grantType, parameters, recognizedTokenTypes = {} }: TokenRequest,
): Promise<TokenResponse> {
  const as = endpoints.at.metadata;
  return sendAs({ known, endpoints, what: "to issue tokens" }, async ({ client, authentication }, options) => {
    const all = { ...resourceParameter(endpoints), ...parameters };
    const sent = await oauth.genericTokenEndpointRequest(as, client, authentication, grantType, all, options);
    const response = await withoutEmptyMembers(sent);
    const issued = await oauth.processGenericTokenEndpointResponse(as, client, response, { recognizedTokenTypes });
    return checkBinding(endpoints, issued);
  });
}

/** Revokes a token (RFC 7009). `hint` is the type of the token. */
export async function revokeToken(
  endpoints: Endpoints,
  known: KnownClient,
  { token, hint }: { token: string; hint: "access_token" | "refresh_token" },
): Promise<void> {
  const revoke = (parameters: Record<string, string>): Promise<void> =>
    sendAs({ known, endpoints, what: "to revoke tokens" }, async ({ client, authentication }, options) => {
      const more = { ...options, additionalParameters: { token_type_hint: hint, ...parameters } };
      const response = await oauth.revocationRequest(endpoints.at.metadata, client, authentication, token, more);
      await oauth.processRevocationResponse(response);
    });
  try {
    await revoke({});
  } catch (error) {
    if (refusalCode(error) !== "invalid_request") throw error;
    // The Python SDK requires the parameter with every method. An empty secret equals none (RFC 6749, 2.3.1).
    await revoke({ client_secret: "" }).catch(() => {
      throw error;
    });
  }
}

const registration = "to register a client";

/** Registers a client (RFC 7591). */
export function registerClient(
  endpoints: Endpoints,
  metadata: Partial<oauth.Client>,
): Promise<oauth.OmitSymbolProperties<oauth.Client>> {
  return send(endpoints, registration, async (options) => {
    const response = await oauth.dynamicClientRegistrationRequest(endpoints.at.metadata, metadata, options);
    return oauth.processDynamicClientRegistrationResponse(await asRegistered(response));
  });
}

function resourceParameter({ at }: Endpoints): Record<string, string> {
  return at.resourceParameter === undefined ? {} : { resource: at.resourceParameter };
}

/** An unbound token could be used by any thief. A bound token that was not requested could not be used at all. */
function checkBinding({ at, dpop }: Endpoints, response: TokenResponse): TokenResponse {
  const isBound = response.token_type === "dpop";
  if (isBound === (dpop !== undefined)) return response;
  const server = `The authorization server ${JSON.stringify(at.issuer)}`;
  const message = isBound
    ? `${server} issued a token that is bound to a key (DPoP), although none was requested.`
    : `${server} issued a token that is not bound to a key (DPoP), although one was requested. Set dpop: false to accept it.`;
  throw new LocalError("authorization_failed", message);
}

/** Sends a request as a client. If the server refuses the method of a client whose method is not certain, tries the other one. */
async function sendAs<T>(
  { known, endpoints, what }: { known: KnownClient; endpoints: Endpoints; what: string },
  request: (known: KnownClient, options: RequestOptions) => Promise<T>,
): Promise<T> {
  const { client, alternative } = known;
  try {
    return await send(endpoints, what, (options) => request(known, options));
  } catch (error) {
    if (!alternative || !isClientRefusal(error)) throw error;
    const { authentication, refusedMethod, remember } = alternative;
    const other = { client, authentication };
    const response = await send(endpoints, what, (options) => request(other, options)).catch((second: unknown) => {
      throw isClientRefusal(second) ? refusedTwice(second, error, refusedMethod) : second;
    });
    await remember();
    return response;
  }
}

/**
 * Sends a request with credentials to an endpoint. `what` is the request in words, such as "to register a client".
 *
 * Rejects with `LocalError` `authorization_failed`. If the server refused the request, `data.error` is its error code.
 */
async function send<T>(
  { at, fetch, dpop, report, signal }: Endpoints,
  what: string,
  request: (options: RequestOptions) => Promise<T>,
): Promise<T> {
  const secrets = new Set<string>();
  let answeredAt = NaN;
  const options: RequestOptions = {
    headers: {},
    signal,
    ...(dpop && { DPoP: dpop.handle }),
    [oauth.customFetch]: async (url: string, init?: GuardedInit) => {
      noteSecrets(init, secrets);
      const response = await fetch(url, init);
      // Proofs and assertions contain the time of this machine.
      const hasTime =
        dpop !== undefined || (init?.body instanceof URLSearchParams && init.body.has("client_assertion"));
      if (hasTime) answeredAt = Date.parse(response.headers.get("date") ?? "");
      return response;
    },
    // The guarded fetch decides which URLs may be requested without TLS.
    [oauth.allowInsecureRequests]: true,
  };
  try {
    return await withNonce(() => request(options));
  } catch (error) {
    if (signal.aborted) throw error;
    const refusal = await toAuthorizationError(error, { issuer: at.issuer, what, secrets });
    const failed = withClockRemark(refusal, [[at.issuer, answeredAt - Date.now()]]);
    report(failed.message);
    throw at.isAssumed ? explainAssumed(failed, at, what) : failed;
  }
}

/**
 * Returns an error that explains a failed request to an assumed endpoint, if its response is not that of an authorization
 * server. A server that accepts only API keys names no authorization server, and has none at its origin.
 */
function explainAssumed(cause: Error, { server, issuer, isTokenRequired }: Discovered, what: string): Error {
  const data = cause instanceof LocalError && isObject(cause.data) ? cause.data : {};
  // A server may require its tokens for all paths of its origin.
  const isOther = data.status === 404 || data.status === 405 || (data.status === 401 && what === registration);
  const isAnswer = typeof data.error === "string" && !isOther;
  if (typeof data.status !== "number" || data.status >= 500 || isAnswer) return cause;
  const [fact, cure] = isTokenRequired
    ? ["requires a token or a key, but offers no sign-in", "Send the token or key in the option `headers`."]
    : ["offers no sign-in", "The server may not require one."];
  const reason = `It names no authorization server, and there is none at ${JSON.stringify(issuer)}.`;
  return new LocalError("authorization_failed", `${nameOf(server)} ${fact}. ${reason} ${cure}`, { cause, data });
}

/** Collects the secrets of a request. */
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
  const registered = await jsonIn(await withoutEmptyMembers(response));
  if (!registered) return new Response(await response.text(), { status: 201, headers: response.headers });
  const expires = Number(registered.client_secret_expires_at ?? 0);
  return Response.json({ ...registered, client_secret_expires_at: expires }, { status: 201 });
}

/**
 * Removes the members of a successful response that are null or empty, which the library rejects. Many frameworks write null for a
 * member without a value.
 */
async function withoutEmptyMembers(response: Response): Promise<Response> {
  const { ok, status, headers } = response;
  const body = ok ? await jsonIn(response) : undefined;
  if (!body) return response;
  const members = Object.entries(body).filter(([, value]) => value !== null && value !== "");
  return new Response(JSON.stringify(Object.fromEntries(members)), { status, headers });
}
