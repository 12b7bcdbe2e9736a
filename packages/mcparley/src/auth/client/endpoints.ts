import * as oauth from "oauth4webapi";
import type { Clock } from "../../rpc/clock.ts";
import { nameOf } from "../../http/client/settings.ts";
import { LocalError } from "../../rpc/errors.ts";
import { isObject } from "../../rpc/messages.ts";
import type { AsClient } from "../client-authentication.ts";
import { normalizeResponse, readDocument } from "../issuer-document.ts";
import type { Discovery } from "./discovery/discovery.ts";
import { type DpopProver, withNonce } from "./dpop.ts";
import type { GuardedFetch, GuardedInit } from "./guarded-fetch.ts";
import {
  type TimedResponse,
  clockRemark,
  isClientRefusal,
  isFinalRefusal,
  refusalCode,
  refusedTwice,
  secretParameters,
  toAuthorizationError,
} from "./oauth-error.ts";

/** A client as an authorization server knows it, and the function that authenticates its requests. */
export interface OAuthClient {
  readonly id: string;
  readonly authentication: oauth.ClientAuth;
  /** Whether it authenticates by a secret or a key. */
  readonly isConfidential: boolean;
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
  readonly discovery: Discovery;
  readonly fetch: GuardedFetch;
  /** Binds the tokens to its key. Undefined for tokens that are not bound. */
  readonly dpop: DpopProver | undefined;
  readonly clock: Clock;
  /** Receives a line of text for each step. */
  readonly report: (this: void, step: string) => void;
  readonly signal: AbortSignal;
}

/** A request for tokens. */
interface TokenRequest {
  grantType: string;
  parameters: Record<string, string>;
  /** The request in words. Default: "to issue tokens". */
  what?: string;
  /** The types of issued tokens, in addition to those of access tokens. */
  recognizedTokenTypes?: oauth.RecognizedTokenTypes;
}

/** Requests tokens. Adds the `resource` parameter. */
export function requestTokens(
  endpoints: Endpoints,
  client: OAuthClient,
  { grantType, parameters, what = "to issue tokens", recognizedTokenTypes }: TokenRequest,
): Promise<TokenResponse> {
  return sendAs({ client, endpoints, what }, async (as, options) => {
    const { resourceParameter: resource } = endpoints.discovery;
    const all = { ...(resource !== undefined && { resource }), ...parameters };
    const response = await normalizeResponse(await oauth.genericTokenEndpointRequest(...as, grantType, all, options));
    const [metadata, oauthClient] = as;
    const checks = recognizedTokenTypes && { recognizedTokenTypes };
    const tokens = await oauth.processGenericTokenEndpointResponse(metadata, oauthClient, response, checks);
    return checkBinding(endpoints, tokens);
  });
}

/** Returns the parameter with the scopes. Without scopes, the authorization server chooses them. */
export function scopeParameter(scopes: readonly string[] | undefined): { scope?: string } {
  return scopes && scopes.length > 0 ? { scope: scopes.join(" ") } : {};
}

/**
 * Pushes the parameters of an authorization request to the server (RFC 9126). Returns the `request_uri` that identifies them.
 * `client_id` is added.
 */
export function pushAuthorization(
  endpoints: Endpoints,
  client: OAuthClient,
  parameters: Record<string, string>,
): Promise<string> {
  return sendAs({ client, endpoints, what: "to accept the authorization request" }, async (as, options) => {
    const response = await oauth.pushedAuthorizationRequest(...as, parameters, options);
    const [metadata, oauthClient] = as;
    const pushResponse = await normalizeResponse(response, 201);
    return (await oauth.processPushedAuthorizationResponse(metadata, oauthClient, pushResponse)).request_uri;
  });
}

/** Revokes a token (RFC 7009). `hint` is the type of the token. */
export async function revokeToken(
  endpoints: Endpoints,
  client: OAuthClient,
  { token, hint }: { token: string; hint: "access_token" | "refresh_token" },
): Promise<void> {
  const revoke = (parameters: Record<string, string>): Promise<void> =>
    sendAs({ client, endpoints, what: "to revoke tokens" }, async (as, options) => {
      const more = { ...options, additionalParameters: { token_type_hint: hint, ...parameters } };
      const response = await oauth.revocationRequest(...as, token, more);
      // The body of a success is ignored (RFC 7009, 2.2), unless it contains an error.
      if (response.ok && !(await readDocument(response))) return;
      await oauth.processRevocationResponse(await normalizeResponse(response));
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
    const response = await oauth.dynamicClientRegistrationRequest(endpoints.discovery.metadata, metadata, options);
    return oauth.processDynamicClientRegistrationResponse(await normalizeResponse(response, 201));
  });
}

/** An unbound token could be used by any thief. A bound token that was not requested could not be used at all. */
function checkBinding({ discovery, dpop }: Endpoints, response: TokenResponse): TokenResponse {
  const isBound = response.token_type === "dpop";
  if (isBound === (dpop !== undefined)) return response;
  const server = `The authorization server ${JSON.stringify(discovery.issuer)}`;
  const message = isBound
    ? `${server} issued a token that is bound to a key (DPoP), although none was requested.`
    : `${server} issued a token that is not bound to a key (DPoP), although one was requested. Set dpop: false to accept it.`;
  throw new LocalError("authorization_failed", message);
}

/** Sends a request as a client. If the server refuses the method of a client whose method is not certain, tries the other one. */
async function sendAs<T>(
  { client, endpoints, what }: { client: OAuthClient; endpoints: Endpoints; what: string },
  request: (as: AsClient, options: RequestOptions) => Promise<T>,
): Promise<T> {
  const sendBy = (authentication: oauth.ClientAuth): Promise<T> =>
    send(endpoints, what, (options) =>
      request([endpoints.discovery.metadata, { client_id: client.id }, authentication], options),
    );
  try {
    return await sendBy(client.authentication);
  } catch (error) {
    const { alternative } = client;
    if (!alternative || !isClientRefusal(error)) throw error;
    const response = await sendBy(alternative.authentication).catch((second: unknown) => {
      throw isClientRefusal(second) ? refusedTwice(second, error, alternative.refusedMethod) : second;
    });
    await alternative.remember();
    return response;
  }
}

/**
 * Sends a request with credentials to an endpoint. `what` is the request in words, such as "to register a client".
 *
 * Rejects with `LocalError` `authorization_failed`. If the server refused the request, `data.error` is its error code.
 */
async function send<T>(
  { discovery, fetch, dpop, clock, report, signal }: Endpoints,
  what: string,
  request: (options: RequestOptions) => Promise<T>,
): Promise<T> {
  const secrets = new Set<string>();
  let lastResponse: TimedResponse | undefined;
  const options: RequestOptions = {
    headers: {},
    signal,
    ...(dpop && { DPoP: dpop.handle }),
    [oauth.customFetch]: async (url: string, init?: GuardedInit) => {
      noteSecrets(init, secrets);
      const sentAt = clock.now();
      const response = await fetch(url, init);
      lastResponse = { headers: response.headers, sentAt, receivedAt: clock.now() };
      return response;
    },
    // The guarded fetch decides which URLs may be requested without TLS.
    [oauth.allowInsecureRequests]: true,
  };
  try {
    return await withNonce(() => request(options));
  } catch (error) {
    if (signal.aborted) throw error;
    const refusal = await toAuthorizationError(error, { issuer: discovery.issuer, what, secrets });
    const failure = withRemarks(refusal, what, lastResponse);
    report(failure.message);
    throw discovery.isAssumed ? explainAssumed(failure, discovery, what) : failure;
  }
}

/** Returns a sentence with the time of this machine for a refused proof, if the server does not state its own time. */
function proofRemark({ message }: LocalError, { headers, sentAt }: TimedResponse): string {
  if (headers.has("date") || !/\bDPoP proof\b|invalid_dpop_proof/i.test(message)) return "";
  return ` The proof has the time of the clock of this machine, ${new Date(sentAt).toISOString()}. Check this clock.`;
}

/** Adds the remarks to an error that help to remove its cause. */
function withRemarks(failure: LocalError, what: string, lastResponse: TimedResponse | undefined): LocalError {
  const { code, message, data } = failure;
  const isRefusedRegistration = what === registration && isFinalRefusal(failure);
  const cure = isRefusedRegistration ? " Register a client manually, and set the option client." : "";
  const remarks =
    cure +
    (lastResponse ? clockRemark(lastResponse, "the authorization server") + proofRemark(failure, lastResponse) : "");
  if (remarks === "") return failure;
  const details = isRefusedRegistration ? { ...(data as object), request: "registration" } : data;
  return new LocalError(code, message + remarks, { data: details });
}

/**
 * Returns an error that explains a failed request to an assumed endpoint, if its response is not that of an authorization
 * server. A server that accepts only API keys names no authorization server, and has none at its origin.
 */
function explainAssumed(cause: LocalError, { server, issuer, isTokenRequired }: Discovery, what: string): LocalError {
  const { request: _, ...data } = isObject(cause.data) ? cause.data : {};
  // A server may require its tokens for all paths of its origin.
  const isOther = data.status === 404 || data.status === 405 || (data.status === 401 && what === registration);
  const isAnswer = typeof data.error === "string" && !isOther;
  if (typeof data.status !== "number" || data.status >= 500 || isAnswer) return cause;
  const [fact, cure] = isTokenRequired
    ? ["requires a token or a key, but offers no sign-in", "Send the token or key in the option `headers`."]
    : ["offers no sign-in", "The server may not require one."];
  const reason = `It names no authorization server, and there is none at ${JSON.stringify(issuer)}.`;
  const message = `${nameOf(server)} ${fact}. ${reason} ${cure}`;
  return new LocalError("authorization_failed", message, { cause, data: { ...data, hasSignIn: false } });
}

/** Collects the secrets of a request. */
function noteSecrets(init: GuardedInit | undefined, secrets: Set<string>): void {
  const { body, headers } = init ?? {};
  if (body instanceof URLSearchParams) for (const value of secretParameters(body)) secrets.add(value);
  const [, basic] = /^Basic (.+)$/.exec(headers?.authorization ?? "") ?? [];
  if (basic === undefined) return;
  secrets.add(basic);
  secrets.add(decodeURIComponent(atob(basic).split(":")[1]?.replaceAll("+", " ") ?? ""));
}
