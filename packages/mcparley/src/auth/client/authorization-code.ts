import type { AuthorizationServer } from "oauth4webapi";
import { isSecureUrl } from "../../net/loopback.ts";
import { LocalError } from "../../rpc/errors.ts";
import type { KnownClient } from "./endpoints.ts";
import type { Grant, GrantContext, Obtained } from "./grant.ts";
import { refusalCode } from "./oauth-error.ts";

import type { Registrations } from "./registration.ts";
import type { SignIn, SignInAttempt } from "./sign-in-types.ts";

/** What one authorization request is recorded by, until the person is back. */
interface AuthorizationRequest {
  url: URL;
  state: string;
  verifier: string;
}

/** The refusals of a client whose registration the authorization server has lost. */
const unknownClient: ReadonlySet<string> = new Set(["invalid_client", "unauthorized_client"]);

/** A person signs in and consents (OAuth 2.1, 4.1), with PKCE by S256, a state, and the issuer of the response checked. */
export class AuthorizationCode implements Grant {
  readonly name = "person";
  readonly wantsRefreshTokens = true;
  readonly #registrations: Registrations;
  readonly #signIn: () => Promise<SignIn>;

  constructor(registrations: Registrations, signIn: () => Promise<SignIn>) {
    this.#registrations = registrations;
    this.#signIn = signIn;
  }

  preferredIssuers(): readonly string[] {
    return this.#registrations.issuers;
  }

  client(context: GrantContext, clientId: string): Promise<KnownClient | undefined> {
    return this.#registrations.known(context, clientId);
  }

  forget(context: GrantContext, clientId: string): Promise<boolean> {
    return this.#registrations.forget(context, clientId);
  }

  async obtain(context: GrantContext, scopes: readonly string[] | undefined): Promise<Obtained> {
    checkPkce(context.at.metadata);
    const signIn = await this.#signIn();
    const attempt = await signIn.prepare(await this.#registrations.redirectUri(context));
    try {
      checkRedirectUri(attempt.redirectUri);
      return await this.#attempt(context, scopes, attempt);
    } finally {
      await attempt.close();
    }
  }

  async #attempt(
    context: GrantContext,
    scopes: readonly string[] | undefined,
    attempt: SignInAttempt,
    isSecond = false,
  ): Promise<Obtained> {
    const known = await this.#registrations.find(context, attempt.redirectUri);
    const clientId = known.client.client_id;
    try {
      const request = await requestFor(context, known, attempt.redirectUri, scopes);
      const back = await attempt.visit(request.url, context.signal);
      const callback = await checkResponse(back, attempt.redirectUri, { context, known, request });
      const { verifier } = request;
      return { clientId, response: await context.endpoints.redeem(known, callback, attempt.redirectUri, verifier) };
    } catch (error) {
      const isUnknown = unknownClient.has(refusalCode(error) ?? "");
      if (isSecond || !isUnknown || !(await this.#registrations.forget(context, clientId))) throw error;
      return this.#attempt(context, scopes, attempt, true);
    }
  }
}

/** Without PKCE, a code that is intercepted can be redeemed by others (2026-07-28, security considerations). */
function checkPkce({ issuer, code_challenge_methods_supported: methods }: AuthorizationServer): void {
  if (methods?.includes("S256")) return;
  const message =
    `The authorization server ${JSON.stringify(issuer)} does not say that it supports PKCE with S256 ` +
    "(code_challenge_methods_supported in its metadata), so nobody is sent there to sign in.";
  throw new LocalError("authorization_failed", message);
}

/** Anybody on the way could read a code that comes back otherwise (2026-07-28, "Communication Security"). */
function checkRedirectUri(given: string): void {
  if (URL.canParse(given) && isSecureUrl(new URL(given))) return;
  const message = `The redirect URI ${JSON.stringify(given.slice(0, 200))} must be https, or http on this machine.`;
  throw new LocalError("invalid_target", message);
}

async function requestFor(
  { at, checkAddress }: GrantContext,
  { client }: KnownClient,
  redirectUri: string,
  scopes: readonly string[] | undefined,
): Promise<AuthorizationRequest> {
  const { calculatePKCECodeChallenge, generateRandomCodeVerifier, generateRandomState } = await import("oauth4webapi");
  const verifier = generateRandomCodeVerifier();
  const state = generateRandomState();
  const url = endpointOf(at.metadata);
  checkAddress(url);
  const parameters: Record<string, string> = {
    response_type: "code",
    client_id: client.client_id,
    redirect_uri: redirectUri,
    state,
    code_challenge: await calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
  };
  if (scopes && scopes.length > 0) parameters.scope = scopes.join(" ");
  // Without being asked for consent, nobody gives access for when they are away (OpenID Connect, 11).
  if (scopes?.includes("offline_access")) parameters.prompt = "consent";
  if (at.resourceParameter !== undefined) parameters.resource = at.resourceParameter;
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return { url, state, verifier };
}

function endpointOf({ issuer, authorization_endpoint: endpoint }: AuthorizationServer): URL {
  if (endpoint !== undefined && URL.canParse(endpoint)) return new URL(endpoint);
  const message = `The authorization server ${JSON.stringify(issuer)} has no authorization_endpoint to sign in at.`;
  throw new LocalError("authorization_failed", message);
}

interface Expected {
  context: GrantContext;
  known: KnownClient;
  request: AuthorizationRequest;
}

/**
 * Checks what the person came back with, before anything in it is believed: the issuer as RFC 9207 and the table of
 * 2026-07-28 say, by comparing strings, then the state, and only then whether it is an error.
 */
async function checkResponse(
  back: URL,
  redirectUri: string,
  { context, known, request }: Expected,
): Promise<URLSearchParams> {
  const { AuthorizationResponseError, validateAuthResponse } = await import("oauth4webapi");
  const { metadata } = context.at;
  const expected = new URL(redirectUri);
  if (back.origin !== expected.origin || back.pathname !== expected.pathname) {
    throw failed("the person came back to another address than the redirect URI");
  }
  try {
    const callback = validateAuthResponse(metadata, known.client, back.searchParams, request.state);
    if (callback.getAll("code").length !== 1) throw new Error("it has not one code");
    return callback;
  } catch (error) {
    if (!(error instanceof AuthorizationResponseError)) throw failed((error as Error).message);
    const code = error.error.replace(/[^\x21-\x7e]+/g, " ").slice(0, 100);
    const message =
      code === "access_denied"
        ? "The sign-in was declined, by the person or by the authorization server."
        : `The authorization server ${JSON.stringify(metadata.issuer)} ended the sign-in with the error ${code}.`;
    throw new LocalError("sign_in_failed", message, { data: { error: code } });
  }

  /** The library's own errors hold the response, and with it the code. */
  function failed(why: string): LocalError {
    const message = `What came back from the sign-in at ${JSON.stringify(metadata.issuer)} is not used: ${why}.`;
    return new LocalError("sign_in_failed", message);
  }
}
