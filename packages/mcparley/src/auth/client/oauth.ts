import { Authorization, type OAuth } from "./flow.ts";
import { AuthorizationCode } from "./authorization-code.ts";
import type { AuthorizationOptions } from "./authorization-options.ts";
import { type RegistrationOptions, Registrations } from "./registration.ts";
import type { SignIn } from "./sign-in-types.ts";

/** How a client signs a person in, and what it is to the authorization servers. */
export interface OAuthOptions extends AuthorizationOptions, RegistrationOptions {
  /**
   * How the person signs in. On Node, with the browser of this machine, unless given (`loopbackSignIn` of
   * `mcparley/node`); elsewhere it has to be given.
   */
  signIn?: SignIn;
}

/**
 * Authorizes a client by having a person sign in, when a server asks for it: `connect(url, { auth: oauth() })`.
 *
 * The authorization server is found, the client registered, and tokens are kept, renewed and replaced as the revisions
 * from 2025-03-26 on say. Calls wait for the sign-in with their clocks stopped and share one. They reject with
 * `LocalError`: `sign_in_required` where nobody can sign in here, `sign_in_failed` where the person did not, and
 * `authorization_failed` where the authorization server cannot be found or used.
 *
 * Throws `LocalError` `invalid_target` for a `clientMetadataUrl` that cannot be a client's identifier.
 */
export function oauth(options: OAuthOptions = {}): OAuth {
  const signIn = async (): Promise<SignIn> => options.signIn ?? (await import("#loopback-sign-in")).loopbackSignIn();
  return new Authorization(options, new AuthorizationCode(new Registrations(options), signIn));
}
