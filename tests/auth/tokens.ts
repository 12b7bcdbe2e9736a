import * as oauth from "oauth4webapi";
import type { AuthorizationServer } from "./authorization-server.ts";
import { browserOf } from "./browser.ts";

export interface TokenOrder {
  user: string;
  resource: string;
  /** Separated by spaces. */
  scope: string;
  /** Binds the token to this key. */
  dpop?: oauth.CryptoKeyPair;
}

const redirectUri = "http://127.0.0.1:9/callback";

/**
 * Gets tokens as a client would: registers, has the user sign in, and redeems the code.
 *
 * For the tests of servers, in place of a client of ours.
 */
export async function getTokens(server: AuthorizationServer, order: TokenOrder): Promise<oauth.TokenEndpointResponse> {
  const { as, client } = await register(server);
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const url = new URL(as.authorization_endpoint!);
  url.search = new URLSearchParams({
    client_id: client.client_id,
    redirect_uri: redirectUri,
    response_type: "code",
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    scope: order.scope,
    resource: order.resource,
    state,
  }).toString();
  const callback = await browserOf({ user: order.user }).signIn(url);
  const params = oauth.validateAuthResponse(as, client, callback, state);
  const response = await oauth.authorizationCodeGrantRequest(as, client, oauth.None(), params, redirectUri, verifier, {
    ...insecure,
    additionalParameters: { resource: order.resource },
    ...(order.dpop && { DPoP: oauth.DPoP(client, order.dpop) }),
  });
  return oauth.processAuthorizationCodeResponse(as, client, response);
}

/** The authorization server is on loopback, without TLS. */
const insecure = { [oauth.allowInsecureRequests]: true };

interface Registered {
  as: oauth.AuthorizationServer;
  client: oauth.Client;
}

async function register({ issuer }: AuthorizationServer): Promise<Registered> {
  const url = new URL(issuer);
  const discovered = await oauth.discoveryRequest(url, { ...insecure, algorithm: "oauth2" });
  const as = await oauth.processDiscoveryResponse(url, discovered);
  const metadata = {
    redirect_uris: [redirectUri],
    application_type: "native",
    token_endpoint_auth_method: "none",
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
  };
  const registered = await oauth.dynamicClientRegistrationRequest(as, metadata, insecure);
  return { as, client: await oauth.processDynamicClientRegistrationResponse(registered) };
}
