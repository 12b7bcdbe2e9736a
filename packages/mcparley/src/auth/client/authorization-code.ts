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
import { LocalError } from "../../rpc/errors.ts";
import { type KnownClient, redeemCode } from "./endpoints.ts";
import type { Grant, GrantContext, Obtained } from "./grant.ts";
import type { OAuthOptions } from "./oauth.ts";
import { inWords, isClientRefusal, withoutSecrets } from "./oauth-error.ts";
import {
  confirmClient,
  findClient,
  forgetClient,
  knownClient,
  manualIssuers,
  refusedClient,
  registeredRedirectUri,
} from "./registration.ts";
import type { SignInAttempt } from "./sign-in.ts";

/** The grant of `oauth`: a user signs in and consents (OAuth 2.1, 4.1), with PKCE (S256), state and issuer checks. */
export function authorizationCode(options: OAuthOptions): Grant {
  return {
    wantsRefreshTokens: true,
    preferredIssuers: () => manualIssuers(options),
    client: (context, clientId) => knownClient(options, context, clientId),
    forget: forgetClient,
    async obtain(context, scopes) {
      checkPkce(context.at.metadata);
      const signIn = options.signIn ?? loopbackSignIn();
      const { at, missingScopes } = context;
      const purpose = { server: at.server.href, issuer: at.issuer, scopes, ...(missingScopes && { missingScopes }) };
      const attempt = await signIn.prepare(await registeredRedirectUri(options, context), purpose);
      try {
        checkRedirectUri(attempt.redirectUri, options);
        return await signInWith(attempt, options, { context, scopes, isRetry: false });
      } finally {
        await attempt.close();
      }
    },
  };
}

interface Requested {
  context: GrantContext;
  scopes: readonly string[] | undefined;
  isRetry: boolean;
}

/**
 * Sends the user to sign in, and redeems the code. If the server refuses a registered client, registers another one and tries
 * once more, because the server may have lost the registration.
 */
async function signInWith(attempt: SignInAttempt, options: OAuthOptions, requested: Requested): Promise<Obtained> {
  const { context, scopes, isRetry } = requested;
  const { redirectUri } = attempt;
  const known = await findClient(options, context, redirectUri);
  const clientId = known.client.client_id;
  try {
    const request = await makeRequest(context, known, { redirectUri, scopes });
    context.endpoints.report(`Authorization URL ${withoutState(request.url)}`);
    const redirect = await attempt.visit(request.url, context.signal);
    const callback = checkResponse(redirect, { context, known, request });
    const response = await redeemCode(context.endpoints, known, { callback, redirectUri, verifier: request.verifier });
    await confirmClient(context);
    return { clientId, response };
  } catch (error) {
    if (!isClientRefusal(error)) throw error;
    if (isRetry || !(await forgetClient(context, clientId))) throw refusedClient(error, clientId, options);
    const { code, message, data } = error;
    const next = "Another client is registered, and the sign-in starts again.";
    context.warn(new LocalError(code, `${message} ${next}`, { data }));
    return signInWith(attempt, options, { ...requested, isRetry: true });
  }
}

/** Returns an authorization URL for a log, without the values that protect its redirect. */
function withoutState(url: URL): string {
  return url.href.replace(/([?&](?:state|code_challenge)=)[^&]*/g, "$1...");
}

/** Without PKCE, an intercepted code can be redeemed by others (2026-07-28, security considerations). */
function checkPkce({ issuer, code_challenge_methods_supported: methods }: AuthorizationServer): void {
  if (methods?.includes("S256")) return;
  const message =
    `The authorization server ${JSON.stringify(issuer)} does not declare support for PKCE with S256 ` +
    "(code_challenge_methods_supported in its metadata), so the sign-in was not started.";
  throw new LocalError("authorization_failed", message);
}

/** A code in a cleartext redirect could be read on the network (2026-07-28, "Communication Security"). */
function checkRedirectUri(redirectUri: string, { redirectUri: registered = redirectUri }: OAuthOptions): void {
  if (redirectUri !== registered) {
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
  { at, checkUrl }: GrantContext,
  { client }: KnownClient,
  { redirectUri, scopes }: { redirectUri: string; scopes: readonly string[] | undefined },
): Promise<AuthorizationRequest> {
  const { issuer, authorization_endpoint: endpoint } = at.metadata;
  if (endpoint === undefined || !URL.canParse(endpoint)) {
    const message = `The authorization server ${JSON.stringify(issuer)} has no authorization_endpoint in its metadata.`;
    throw new LocalError("authorization_failed", message);
  }
  const url = new URL(endpoint);
  checkUrl(url);
  const verifier = generateRandomCodeVerifier();
  const state = generateRandomState();
  const parameters: Record<string, string> = {
    response_type: "code",
    client_id: client.client_id,
    redirect_uri: redirectUri,
    state,
    code_challenge: await calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
  };
  if (scopes && scopes.length > 0) parameters.scope = scopes.join(" ");
  // Servers ignore offline_access without a consent prompt (OpenID Connect, 11).
  if (scopes?.includes("offline_access")) parameters.prompt = "consent";
  if (at.resourceParameter !== undefined) parameters.resource = at.resourceParameter;
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return { url, redirectUri, state, verifier };
}

interface Expected {
  context: GrantContext;
  known: KnownClient;
  request: AuthorizationRequest;
}

/**
 * Checks the redirect before any of its content is used: first the issuer by string comparison (RFC 9207 and the table of
 * 2026-07-28), then the state, then whether it is an error.
 */
function checkResponse(redirect: URL, { context, known, request }: Expected): URLSearchParams {
  const { metadata } = context.at;
  const expected = new URL(request.redirectUri);
  if (redirect.origin !== expected.origin || redirect.pathname !== expected.pathname) {
    throw rejected(metadata, "the browser was redirected to a URL other than the redirect URI");
  }
  try {
    const callback = validateAuthResponse(metadata, known.client, redirect.searchParams, request.state);
    if (callback.getAll("code").length === 1) return callback;
  } catch (error) {
    if (!(error instanceof AuthorizationResponseError)) {
      throw rejected(metadata, error instanceof Error ? error.message : String(error));
    }
    const inLine = (text: string): string => withoutSecrets(text, [request.state, request.verifier]);
    const code = inLine(error.error).slice(0, 100);
    const { error_description: description } = error;
    const reason = inWords(code, description === undefined ? undefined : inLine(description));
    const server = `The authorization server ${JSON.stringify(metadata.issuer)}`;
    const message =
      code === "access_denied"
        ? `The sign-in was declined by the user or by the authorization server: ${reason}.`
        : `${server} ended the sign-in with the error ${reason}.`;
    context.endpoints.report(message);
    throw new LocalError("sign_in_failed", message, { data: { error: code } });
  }
  throw rejected(metadata, "the redirect must contain exactly one `code` parameter");
}

/** The errors of the library are not kept as the cause, because they contain the response with the code. */
function rejected({ issuer }: AuthorizationServer, why: string): LocalError {
  const message = `The redirect of the sign-in at ${JSON.stringify(issuer)} was rejected: ${why}.`;
  return new LocalError("sign_in_failed", message);
}
