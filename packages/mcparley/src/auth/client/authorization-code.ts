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
import { type KnownClient, type TokenResponse, pushAuthorization, requestTokens, scopeParameter } from "./endpoints.ts";
import { type Grant, type GrantContext, type Obtained, requireEndpoint } from "./grant.ts";
import type { OAuthOptions } from "./options.ts";
import {
  inWords,
  isClientRefusal,
  isFinalRefusal,
  isLastingRefusal,
  refusalCode,
  withSentence,
  withoutSecrets,
} from "./oauth-error.ts";
import {
  assignTokens,
  clientRefusal,
  findClient,
  forgetClient,
  knownClient,
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

/** The grant of `oauth`: a user signs in and consents (OAuth 2.1, 4.1), with PKCE (S256), state and issuer checks. */
export function authorizationCode(options: OAuthOptions): Grant {
  return {
    mayChangeIssuer: options.client === undefined,
    preferredIssuers: () => manualIssuers(options),
    client: (context, clientId) => knownClient(options, context, clientId),
    forget: (context, clientId) => forgetClient(options, context, clientId),
    assignTokens,
    async obtain(context, required) {
      checkMetadata(context);
      const scopes = withOfflineAccess(required, options, context.at.metadata);
      const signIn = options.signIn ?? loopbackSignIn();
      const { at, missingScopes } = context;
      const assumed = at.isAssumed && { isIssuerAssumed: true };
      const purpose = {
        server: at.server.href,
        issuer: at.issuer,
        ...assumed,
        scopes,
        ...(missingScopes && { missingScopes }),
      };
      const attempt = await signIn.prepare(await registeredRedirectUri(options, context), purpose);
      try {
        checkRedirectUri(attempt.redirectUri, options);
        return await signInWith(attempt, options, { context, scopes, isRetry: false });
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
  { scopes_supported: supported, grant_types_supported: grants }: AuthorizationServer,
): readonly string[] | undefined {
  if (scope !== undefined || !scopes) return scopes;
  if (!offlineAccess) return withoutOfflineAccess(scopes);
  const hasRefreshTokens = grants?.includes("refresh_token") ?? true;
  const isUseful = hasRefreshTokens && supported?.includes(OFFLINE_ACCESS) === true;
  return isUseful ? [...withoutOfflineAccess(scopes), OFFLINE_ACCESS] : scopes;
}

function withoutOfflineAccess(scopes: readonly string[]): readonly string[] {
  return scopes.filter((scope) => scope !== OFFLINE_ACCESS);
}

interface Requested {
  context: GrantContext;
  scopes: readonly string[] | undefined;
  /** Whether the server has refused a client in this sign-in. */
  isRetry: boolean;
}

/**
 * Sends the user to sign in, and redeems the code. Tries once more without `offline_access` if the server refuses the scopes,
 * and with another client if the server refuses a registered one, because it may have lost the registration.
 */
async function signInWith(attempt: SignInAttempt, options: OAuthOptions, requested: Requested): Promise<Obtained> {
  const { context, isRetry } = requested;
  const { redirectUri } = attempt;
  const known = await findClient(options, context, redirectUri);
  const clientId = known.client.client_id;
  const refusal = offlineRefusal(context, clientId);
  const mayOmitOffline = options.scope === undefined && requested.scopes?.includes(OFFLINE_ACCESS) === true;
  const isRefused = mayOmitOffline && (await refusal.read()) === true;
  const scopes = isRefused ? withoutOfflineAccess(requested.scopes ?? []) : requested.scopes;
  try {
    const request = await makeRequest(context, known, { redirectUri, scopes });
    context.report(`Authorization URL ${withoutState(request.url)}`);
    context.onVisit();
    const redirect = await attempt.visit(request.url, context.signal);
    const code = checkResponse(redirect, { context, known, request });
    const parameters = { redirect_uri: redirectUri, code, code_verifier: request.verifier };
    const response = await redeem(parameters, known, context);
    return { clientId, response };
  } catch (error) {
    const again = { ...requested, context: { ...context, registration: "stored" as const } };
    if (isScopeRefusal(error) && mayOmitOffline && !isRefused) {
      context.warn(withSentence(error, `The sign-in starts again without ${OFFLINE_ACCESS}.`));
      const obtained = await signInWith(attempt, options, { ...again, scopes: withoutOfflineAccess(scopes ?? []) });
      await refusal.set(true);
      return obtained;
    }
    if (!isClientRefusal(error)) throw error;
    if (isRetry || !(await forgetClient(options, context, clientId))) throw refusedClient(error, clientId, options);
    context.warn(withSentence(error, "Another client is registered, and the sign-in starts again."));
    return signInWith(attempt, options, { ...again, isRetry: true });
  }
}

/**
 * Redeems a code. If the caller aborts during the request, its response is awaited for some time: a code can be redeemed once, and the
 * user would have to sign in again.
 */
async function redeem(
  parameters: Record<string, string>,
  known: KnownClient,
  context: GrantContext,
): Promise<TokenResponse> {
  const { clock, signal } = context;
  signal.throwIfAborted();
  const late = new AbortController();
  let timer: unknown;
  const stopListening = onAbort(signal, () => {
    timer = clock.setTimeout(() => late.abort(signal.reason), LATE_RESPONSE_MS);
  });
  try {
    return await requestTokens({ ...context, signal: late.signal }, known, {
      grantType: "authorization_code",
      parameters,
    });
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
  } = context.at.metadata;
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
function checkRedirectUri(redirectUri: string, { redirectUri: registered = redirectUri }: OAuthOptions): void {
  // A server must accept any port if the URI of a client on this machine has none (RFC 8252, 7.3).
  const withoutPort = redirectUri.replace(/^(http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost)):\d+/, "$1");
  if (redirectUri !== registered && withoutPort !== registered) {
    const message =
      `The client is registered with the redirect URI ${JSON.stringify(registered)}, but this sign-in receives redirects at ` +
      `${JSON.stringify(redirectUri)}. Check that its port is free, and that the sign-in can listen at such a URL.`;
    throw new LocalError("sign_in_failed", message);
  }
  if (URL.canParse(redirectUri) && isSecureUrl(new URL(redirectUri))) return;
  const message = `The redirect URI ${JSON.stringify(redirectUri.slice(0, 200))} must be https, or http on a loopback address.`;
  throw new LocalError("invalid_target", message);
}

/** An authorization request, and the values that its response is checked against. */
interface AuthorizationRequest {
  url: URL;
  redirectUri: string;
  state: string;
  verifier: string;
}

async function makeRequest(
  context: GrantContext,
  known: KnownClient,
  { redirectUri, scopes }: { redirectUri: string; scopes: readonly string[] | undefined },
): Promise<AuthorizationRequest> {
  const { at } = context;
  const url = requireEndpoint(context, "authorization_endpoint");
  const verifier = generateRandomCodeVerifier();
  const state = generateRandomState();
  const scope = scopeParameter(scopes);
  const parameters: Record<string, string> = {
    response_type: "code",
    client_id: known.client.client_id,
    redirect_uri: redirectUri,
    state,
    code_challenge: await calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    ...scope,
  };
  // Servers ignore offline_access without a consent prompt (OpenID Connect, 11).
  if (scopes?.includes(OFFLINE_ACCESS)) parameters.prompt = "consent";
  if (at.resourceParameter !== undefined) parameters.resource = at.resourceParameter;
  const pushed = await pushRequest(context, known, parameters);
  // The server ignores the other parameters (RFC 9101, 5). A sign-in reads them from the URL.
  const shown =
    pushed === undefined ? parameters : { client_id: known.client.client_id, request_uri: pushed, state, ...scope };
  for (const [name, value] of Object.entries(shown)) url.searchParams.set(name, value);
  return { url, redirectUri, state, verifier };
}

/**
 * Pushes an authorization request if the server accepts that (RFC 9126). Returns undefined if the server does not require it, and
 * the request failed: then the URL contains the parameters. Throws the refusal of scopes, of the access and of an unknown client,
 * which a page would only repeat.
 */
async function pushRequest(
  context: GrantContext,
  known: KnownClient,
  parameters: Record<string, string>,
): Promise<string | undefined> {
  const { at, report, signal } = context;
  const { pushed_authorization_request_endpoint: endpoint, require_pushed_authorization_requests: isRequired } =
    at.metadata;
  if (endpoint === undefined && isRequired !== true) return undefined;
  try {
    return await pushAuthorization(context, known, parameters);
  } catch (error) {
    signal.throwIfAborted();
    if (isRequired === true || isScopeRefusal(error) || refusalCode(error) === "access_denied") throw error;
    // The error does not show whether the client is known: Keycloak refuses an unknown one with "invalid_request", and some servers
    // refuse a public one with "invalid_client", although it may send the request by the URL.
    if (!isFinalRefusal(error)) return undefined;
    const refusal = await clientRefusal(known, context);
    if (!refusal) return undefined;
    if (refusalCode(refusal) !== "invalid_client" && !isSecretRefused(known, error, refusal)) return undefined;
    report(refusal.message);
    throw refusal;
  }
}

/**
 * Whether an issuer refuses the secret of a client that it refuses as `unauthorized_client`. Keycloak uses this code for a wrong secret,
 * with status 401. With another status, the client may only not use refresh tokens.
 */
function isSecretRefused({ isConfidential }: KnownClient, push: LocalError, { data }: LocalError): boolean {
  const { status } = data as { status: number };
  return isConfidential && (status === 401 || (isLastingRefusal(push) && refusalCode(push) === "invalid_client"));
}

interface Expected {
  context: GrantContext;
  known: KnownClient;
  request: AuthorizationRequest;
}

/**
 * Checks the redirect before any of its content is used: first the issuer by string comparison (RFC 9207 and the table of
 * 2026-07-28), then the state, then whether it is an error. Returns the code.
 */
function checkResponse(redirect: URL, { context, known, request }: Expected): string {
  const { metadata } = context.at;
  const secrets = [
    request.state,
    request.verifier,
    ...secretParameters.flatMap((name) => redirect.searchParams.getAll(name)),
  ];
  const expected = new URL(request.redirectUri);
  if (redirect.origin !== expected.origin || redirect.pathname !== expected.pathname) {
    throw rejected(metadata, "the browser was redirected to a URL other than the redirect URI");
  }
  try {
    const callback = validateAuthResponse(metadata, known.client, redirect.searchParams, request.state);
    const [code, ...others] = callback.getAll("code");
    if (code && others.length === 0) return code;
  } catch (error) {
    if (!(error instanceof AuthorizationResponseError)) {
      throw rejected(
        metadata,
        wrongIssuer(metadata, redirect, secrets) ?? (error instanceof Error ? error.message : String(error)),
      );
    }
    const inLine = (text: string): string => withoutSecrets(text, secrets);
    const code = inLine(error.error).slice(0, 100);
    const description = error.error_description === undefined ? undefined : inLine(error.error_description);
    const reason = inWords(code, description);
    const server = `The authorization server ${JSON.stringify(metadata.issuer)}`;
    const message =
      code === "access_denied"
        ? `The sign-in was declined by the user or by the authorization server: ${reason}.`
        : `${server} ended the sign-in with the error ${reason}.`;
    context.report(message);
    const data = { error: code, ...(description !== undefined && { description }) };
    throw new LocalError("sign_in_failed", message, { data });
  }
  throw rejected(metadata, "the redirect must contain exactly one `code` parameter");
}

/** The parameters of a redirect whose values are removed from errors. */
const secretParameters = ["code", "access_token", "id_token", "token", "response"];

/** Returns the reason to reject a redirect of another issuer, with both issuers. Undefined if its issuer is accepted. */
function wrongIssuer(
  metadata: AuthorizationServer,
  { searchParams }: URL,
  secrets: readonly string[],
): string | undefined {
  const { issuer, authorization_response_iss_parameter_supported: isRequired } = metadata;
  const [iss = "", ...others] = searchParams.getAll("iss");
  if (iss === issuer || others.length > 0 || (iss === "" && isRequired !== true)) return undefined;
  const value = iss === "" ? "no iss" : `the iss ${JSON.stringify(withoutSecrets(iss, secrets))}`;
  return `it has ${value}, expected ${JSON.stringify(issuer)}`;
}

/** The errors of the library are not kept as the cause, because they contain the response with the code. */
function rejected({ issuer }: AuthorizationServer, why: string): LocalError {
  const message = `The redirect of the sign-in at ${JSON.stringify(issuer)} was rejected: ${why}.`;
  return new LocalError("sign_in_failed", message);
}
