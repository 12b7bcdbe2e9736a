import { loopbackSignIn } from "#loopback-sign-in";
import {
  AuthorizationResponseError,
  type AuthorizationServer,
  calculatePKCECodeChallenge,
  generateRandomCodeVerifier,
  generateRandomState,
  validateAuthResponse,
} from "oauth4webapi";
import { isSecureUrl } from "../../net/loopback.ts";
import { onAbort } from "../../rpc/abort.ts";
import { LocalError } from "../../rpc/errors.ts";
import { type OAuthClient, type TokenResponse, pushAuthorization, requestTokens, scopeParameter } from "./endpoints.ts";
import { type Grant, type GrantContext, type IssuedTokens, requireEndpoint } from "./grant.ts";
import type { OAuthOptions } from "./options.ts";
import {
  inWords,
  isClientRefusal,
  isFinalRefusal,
  isLastingRefusal,
  refusalCode,
  secretParameters,
  withSentence,
  withoutSecrets,
} from "./oauth-error.ts";
import {
  assignTokens,
  clientRefusal,
  findClient,
  forgetClient,
  clientOfTokens,
  manualIssuers,
  offlineRefusal,
  refusedClient,
  registeredRedirectUri,
  releaseClient,
} from "./registration/registration.ts";
import type { SignInAttempt } from "./sign-in.ts";

/** The scope of refresh tokens that stay valid after the user has signed out of the issuer (OpenID Connect, 11). */
const OFFLINE_ACCESS = "offline_access";
/** Milliseconds after an abort in which the response to a code is still awaited. */
const LATE_RESPONSE_MS = 5_000;

/** The context of a sign-in of a user. */
interface SignInContext extends GrantContext {
  readonly options: OAuthOptions;
  readonly attempt: SignInAttempt;
}

/** The grant of `oauth`: a user signs in and consents (OAuth 2.1, 4.1), with PKCE (S256), state and issuer checks. */
export function authorizationCode(options: OAuthOptions): Grant {
  return {
    mayChangeIssuer: options.client === undefined,
    preferredIssuers: () => manualIssuers(options),
    client: (context, clientId) => clientOfTokens({ ...context, options }, clientId),
    forget: (context, clientId) => forgetClient({ ...context, options }, clientId),
    assignTokens,
    async obtain(context, requiredScopes) {
      checkMetadata(context);
      const { discovery, missingScopes } = context;
      const scopes = withOfflineAccess(requiredScopes, options, discovery.metadata);
      const purpose = {
        server: discovery.server.href,
        issuer: discovery.issuer,
        ...(discovery.isAssumed && { isIssuerAssumed: true }),
        scopes,
        ...(missingScopes && { missingScopes }),
      };
      const { signIn = loopbackSignIn() } = options;
      const attempt = await signIn.prepare(await registeredRedirectUri({ ...context, options }), purpose);
      try {
        checkRedirectUri(attempt.redirectUri, options);
        return await signInWith({ ...context, options, attempt }, scopes);
      } catch (error) {
        // A storage that fails does not replace the reason for which the sign-in has failed.
        await releaseClient(context).catch(context.warn);
        throw error;
      } finally {
        await attempt.close();
      }
    },
  };
}

/**
 * Returns the scopes with `offline_access` if the issuer supports it, because without a refresh token the user would have to
 * sign in again. The scopes of the option `scope` are returned as they are.
 */
function withOfflineAccess(
  scopes: readonly string[] | undefined,
  { scope, offlineAccess = true }: OAuthOptions,
  { scopes_supported: supportedScopes, grant_types_supported: grants }: AuthorizationServer,
): readonly string[] | undefined {
  if (scope !== undefined || !scopes) return scopes;
  if (!offlineAccess) return withoutOfflineAccess(scopes);
  const hasRefreshTokens = grants?.includes("refresh_token") ?? true;
  const isUseful = hasRefreshTokens && supportedScopes?.includes(OFFLINE_ACCESS) === true;
  return isUseful ? [...withoutOfflineAccess(scopes), OFFLINE_ACCESS] : scopes;
}

function withoutOfflineAccess(scopes: readonly string[] = []): readonly string[] {
  return scopes.filter((scope) => scope !== OFFLINE_ACCESS);
}

/**
 * Sends the user to sign in, and redeems the code. Tries once more without `offline_access` if the server refuses the scopes,
 * and with another client if the server refuses a registered one, because it may have lost the registration.
 *
 * `isRetry` states whether the server has refused a client in this sign-in.
 */
async function signInWith(
  context: SignInContext,
  allScopes: readonly string[] | undefined,
  isRetry = false,
): Promise<IssuedTokens> {
  const { options, attempt, report, warn } = context;
  const client = await findClient(context, attempt.redirectUri);
  const refusal = offlineRefusal(context, client.id);
  const mayOmitOffline = options.scope === undefined && allScopes?.includes(OFFLINE_ACCESS) === true;
  const isRefused = mayOmitOffline && (await refusal.read()) === true;
  const scopes = isRefused ? withoutOfflineAccess(allScopes) : allScopes;
  try {
    const request = await makeRequest(context, client, scopes);
    report(`Authorization URL ${withoutState(request.url)}`);
    context.onVisit?.();
    const redirect = await attempt.visit(request.url, context.signal);
    const code = checkResponse(context, request, redirect);
    return { clientId: client.id, response: await redeem(context, request, code) };
  } catch (error) {
    const retryContext = { ...context, registration: "stored" } as const;
    if (isScopeRefusal(error) && mayOmitOffline && !isRefused) {
      warn(withSentence(error, `The sign-in starts again without ${OFFLINE_ACCESS}.`));
      const tokens = await signInWith(retryContext, withoutOfflineAccess(allScopes), isRetry);
      await refusal.set(true);
      return tokens;
    }
    if (!isClientRefusal(error)) throw error;
    if (isRetry || !(await forgetClient(context, client.id))) throw refusedClient(error, client.id, options);
    warn(withSentence(error, "Another client is registered, and the sign-in starts again."));
    return signInWith(retryContext, allScopes, true);
  }
}

/**
 * Redeems a code. If the caller aborts during the request, its response is awaited for some time: a code can be redeemed once, and the
 * user would have to sign in again.
 */
async function redeem(
  context: SignInContext,
  { client, verifier }: AuthorizationRequest,
  code: string,
): Promise<TokenResponse> {
  const { clock, signal, attempt } = context;
  signal.throwIfAborted();
  const late = new AbortController();
  let timer: unknown;
  const stopListening = onAbort(signal, () => {
    timer = clock.setTimeout(() => late.abort(signal.reason), LATE_RESPONSE_MS);
  });
  const parameters = { redirect_uri: attempt.redirectUri, code, code_verifier: verifier };
  try {
    const lateContext = { ...context, signal: late.signal };
    return await requestTokens(lateContext, client, { grantType: "authorization_code", parameters });
  } finally {
    stopListening();
    clock.clearTimeout(timer);
  }
}

/** Whether an authorization server refuses the requested scopes: by its error code (RFC 6749, 4.1.2.1; Keycloak) or by its words. */
function isScopeRefusal(error: unknown): error is LocalError {
  const code = refusalCode(error);
  if (code === "invalid_scope" || code === "not_allowed") return true;
  const { description } = code === undefined ? {} : ((error as LocalError).data as { description?: string });
  return description !== undefined && /\b(?:scopes?|offline)\b/i.test(description);
}

/** Returns an authorization URL for a log, without the values that protect its redirect. */
function withoutState(url: URL): string {
  return url.href.replace(/([?&](?:state|code_challenge|request_uri)=)[^&]*/g, "$1...");
}

/** Throws an error for an authorization server whose metadata lacks what a sign-in needs, before a client is registered. */
function checkMetadata(context: GrantContext): void {
  const {
    issuer,
    code_challenge_methods_supported: methods,
    require_pushed_authorization_requests: isPushed,
  } = context.discovery.metadata;
  // Without PKCE, an intercepted code can be redeemed by others (2026-07-28, security considerations).
  if (!methods?.includes("S256")) {
    const message =
      `The authorization server ${JSON.stringify(issuer)} does not declare support for PKCE with S256 ` +
      "(code_challenge_methods_supported in its metadata), so the sign-in was not started.";
    throw new LocalError("authorization_failed", message, { data: { issuer, request: "metadata" } });
  }
  requireEndpoint(context, "authorization_endpoint");
  requireEndpoint(context, "token_endpoint");
  if (isPushed === true) requireEndpoint(context, "pushed_authorization_request_endpoint");
}

/** A code in a cleartext redirect could be read on the network (2026-07-28, "Communication Security"). */
function checkRedirectUri(redirectUri: string, { redirectUri: registeredUri = redirectUri }: OAuthOptions): void {
  // A server must accept any port if the URI of a client on this machine has none (RFC 8252, 7.3).
  const withoutPort = redirectUri.replace(/^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost)):\d+/, "$1");
  if (redirectUri !== registeredUri && withoutPort !== registeredUri) {
    const message =
      `The client is registered with the redirect URI ${JSON.stringify(registeredUri)}, but this sign-in receives redirects at ` +
      `${JSON.stringify(redirectUri)}. Check that its port is free, and that the sign-in can listen at such a URL.`;
    throw new LocalError("sign_in_failed", message);
  }
  if (URL.canParse(redirectUri) && isSecureUrl(new URL(redirectUri))) return;
  const message = `The redirect URI ${JSON.stringify(redirectUri.slice(0, 200))} must be https, or http on a loopback address.`;
  throw new LocalError("invalid_target", message);
}

/** An authorization request, and the values that its response is checked against. */
interface AuthorizationRequest {
  readonly url: URL;
  readonly client: OAuthClient;
  readonly state: string;
  readonly verifier: string;
}

async function makeRequest(
  context: SignInContext,
  client: OAuthClient,
  scopes: readonly string[] | undefined,
): Promise<AuthorizationRequest> {
  const { discovery, attempt } = context;
  const url = requireEndpoint(context, "authorization_endpoint");
  const verifier = generateRandomCodeVerifier();
  const state = generateRandomState();
  const scope = scopeParameter(scopes);
  const parameters: Record<string, string> = {
    response_type: "code",
    client_id: client.id,
    redirect_uri: attempt.redirectUri,
    state,
    code_challenge: await calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    ...scope,
  };
  // Servers ignore offline_access without a consent prompt (OpenID Connect, 11).
  if (scopes?.includes(OFFLINE_ACCESS)) parameters.prompt = "consent";
  if (discovery.resourceParameter !== undefined) parameters.resource = discovery.resourceParameter;
  const requestUri = await pushRequest(context, client, parameters);
  // The server ignores the other parameters (RFC 9101, 5). A sign-in reads them from the URL.
  const query =
    requestUri === undefined ? parameters : { client_id: client.id, request_uri: requestUri, state, ...scope };
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return { url, client, state, verifier };
}

/**
 * Pushes an authorization request if the server accepts that (RFC 9126). Returns undefined if the server does not require it, and
 * the request failed: then the URL contains the parameters. Throws the refusal of scopes, of the access and of an unknown client,
 * which a page would only repeat.
 */
async function pushRequest(
  context: SignInContext,
  client: OAuthClient,
  parameters: Record<string, string>,
): Promise<string | undefined> {
  const { pushed_authorization_request_endpoint: endpoint, require_pushed_authorization_requests: isRequired } =
    context.discovery.metadata;
  if (endpoint === undefined && isRequired !== true) return undefined;
  try {
    return await pushAuthorization(context, client, parameters);
  } catch (error) {
    context.signal.throwIfAborted();
    if (isRequired === true || isScopeRefusal(error) || refusalCode(error) === "access_denied") throw error;
    // The error does not show whether the client is known: Keycloak refuses an unknown one with "invalid_request", and some servers
    // refuse a public one with "invalid_client", although it may send the request by the URL.
    if (!isFinalRefusal(error)) return undefined;
    const refusal = await clientRefusal(client, context);
    if (!refusal) return undefined;
    if (refusalCode(refusal) !== "invalid_client" && !isSecretRefused(client, error, refusal)) return undefined;
    context.report(refusal.message);
    throw refusal;
  }
}

/**
 * Whether an issuer refuses the secret of a client that it refuses as `unauthorized_client`. Keycloak uses this code for a wrong secret,
 * with status 401. With another status, the client may only not use refresh tokens.
 */
function isSecretRefused({ isConfidential }: OAuthClient, push: LocalError, { data }: LocalError): boolean {
  const { status } = data as { status: number };
  return isConfidential && (status === 401 || (isLastingRefusal(push) && refusalCode(push) === "invalid_client"));
}

/**
 * Checks the redirect before any of its content is used: first the issuer by string comparison (RFC 9207 and the table of
 * 2026-07-28), then the state, then whether it is an error. Returns the code.
 */
function checkResponse(
  { discovery, attempt, report }: SignInContext,
  request: AuthorizationRequest,
  redirect: URL,
): string {
  const { metadata } = discovery;
  const { state, verifier, client } = request;
  const secrets = [state, verifier, ...secretParameters(redirect.searchParams)];
  const expectedUrl = new URL(attempt.redirectUri);
  if (redirect.origin !== expectedUrl.origin || redirect.pathname !== expectedUrl.pathname) {
    throw redirectError(metadata, "the browser was redirected to a URL other than the redirect URI");
  }
  try {
    const callback = validateAuthResponse(metadata, { client_id: client.id }, redirect.searchParams, state);
    const [code, ...otherCodes] = callback.getAll("code");
    if (code && otherCodes.length === 0) return code;
  } catch (error) {
    if (!(error instanceof AuthorizationResponseError)) {
      const reason = error instanceof Error ? error.message : String(error);
      throw redirectError(metadata, wrongIssuer(metadata, redirect, secrets) ?? reason);
    }
    const code = withoutSecrets(error.error, secrets).slice(0, 100);
    const description = error.error_description && withoutSecrets(error.error_description, secrets);
    const reason = inWords(code, description);
    const message =
      code === "access_denied"
        ? `The sign-in was declined by the user or by the authorization server: ${reason}.`
        : `The authorization server ${JSON.stringify(metadata.issuer)} ended the sign-in with the error ${reason}.`;
    report(message);
    const data = { error: code, ...(description !== undefined && { description }) };
    throw new LocalError("sign_in_failed", message, { data });
  }
  throw redirectError(metadata, "the redirect must contain exactly one `code` parameter");
}

/** Returns the reason to reject a redirect of another issuer, with both issuers. Undefined if its issuer is accepted. */
function wrongIssuer(
  metadata: AuthorizationServer,
  { searchParams }: URL,
  secrets: readonly string[],
): string | undefined {
  const { issuer, authorization_response_iss_parameter_supported: isRequired } = metadata;
  const [iss = "", ...otherIssuers] = searchParams.getAll("iss");
  if (iss === issuer || otherIssuers.length > 0 || (iss === "" && isRequired !== true)) return undefined;
  const value = iss === "" ? "no iss" : `the iss ${JSON.stringify(withoutSecrets(iss, secrets))}`;
  return `it has ${value}, expected ${JSON.stringify(issuer)}`;
}

/** The errors of the library are not kept as the cause, because they contain the response with the code. */
function redirectError({ issuer }: AuthorizationServer, why: string): LocalError {
  const message = `The redirect of the sign-in at ${JSON.stringify(issuer)} was rejected: ${why}.`;
  return new LocalError("sign_in_failed", message);
}
