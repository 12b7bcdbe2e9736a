import type { AuthorizationServer } from "oauth4webapi";
import { LocalError } from "../../rpc/errors.ts";
import { redact } from "../../rpc/redact.ts";
import type { ClientCredential } from "../client-credential.ts";
import { wrongAudience } from "../token-audience.ts";
import { type OAuthClient, type TokenResponse, requestTokens, scopeParameter } from "./endpoints.ts";
import { type Grant, type GrantContext, reportRequests } from "./grant.ts";
import { authenticateClient } from "./registration/oauth-client.ts";
import { makeGuardedFetch } from "./guarded-fetch.ts";
import type { ClientCredentialsOptions, EnterpriseManagedOptions, WorkloadIdentityOptions } from "./options.ts";
import { discoverIssuer } from "./discovery/metadata.ts";

/** The grant type of an assertion (RFC 7523, 2.1). */
const JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer";
/** The grant type of an exchange of one token for another (RFC 8693, 2.1). */
const TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange";
const TOKEN_TYPE = "urn:ietf:params:oauth:token-type:";
const ID_JAG = `${TOKEN_TYPE}id-jag`;

/** Sends the token request of a grant, with the scopes separated by spaces. */
type Request = (context: GrantContext, oauthClient: OAuthClient, scope: { scope?: string }) => Promise<TokenResponse>;

/** The grant of `clientCredentials` (OAuth 2.1, 4.2). */
export function clientCredentialsGrant({ client }: ClientCredentialsOptions): Grant {
  return machineGrant(client, (context, oauthClient, scope) =>
    requestTokens(context, oauthClient, { grantType: "client_credentials", parameters: scope }),
  );
}

/** The grant of `workloadIdentity` (RFC 7523, 2.1). */
export function workloadIdentityGrant({ client, assertion }: WorkloadIdentityOptions): Grant {
  return machineGrant(client, async (context, oauthClient, scope) => {
    const { issuer, resource } = context.discovery;
    const jwt = await callApplication("assertion", () => assertion({ issuer, resource }));
    return requestTokens(context, oauthClient, { grantType: JWT_BEARER, parameters: { ...scope, assertion: jwt } });
  });
}

/** The grant of `enterpriseManaged`: a token exchange (RFC 8693) at the identity provider, then an assertion grant. */
export function enterpriseManagedGrant({
  client,
  identityProvider,
  identity,
  fetch: customFetch,
  clock,
}: EnterpriseManagedOptions): Grant {
  const { issuer, tokenEndpoint: token_endpoint } = identityProvider;
  let metadata: AuthorizationServer | undefined = token_endpoint === undefined ? undefined : { issuer, token_endpoint };

  /** Exchanges the identity of the user for a grant at the authorization server. Returns the parameters of the second request. */
  async function exchange(context: GrantContext, scope: { scope?: string }): Promise<Record<string, string>> {
    const { discovery, connection, signal } = context;
    // The application configures the identity provider, so a private address is allowed.
    const { server } = discovery;
    const send = makeGuardedFetch({ allowPrivate: true, fetch: customFetch, connection, server, clock });
    const fetch = reportRequests(send, context.report);
    metadata ??= await discoverIssuer(fetch, issuer, signal);
    const subject = await callApplication("identity", identity);
    const { token, type } = typeof subject === "string" ? { token: subject, type: "id_token" } : subject;
    const resourceParameter = discovery.resourceParameter ?? discovery.resource;
    const provider = { ...discovery, issuer, metadata, isAssumed: false, resourceParameter };
    const endpoints: GrantContext = { ...context, discovery: provider, fetch, dpop: undefined };
    const asClient = await authenticateClient(identityProvider.client, endpoints);
    const response = await requestTokens(endpoints, asClient, {
      grantType: TOKEN_EXCHANGE,
      parameters: {
        ...scope,
        requested_token_type: ID_JAG,
        audience: discovery.issuer,
        subject_token: token,
        subject_token_type: TOKEN_TYPE + type,
      },
      // "n_a" is the type of a token that is not an access token.
      recognizedTokenTypes: { n_a: () => {} },
    });
    const name = `The identity provider ${JSON.stringify(issuer)}`;
    if (response.issued_token_type !== ID_JAG) {
      const message = `${name} did not issue a token of the requested type ${ID_JAG}.`;
      throw new LocalError("authorization_failed", message, { data: { issuer } });
    }
    const audienceError = wrongAudience(response.access_token, [discovery.issuer]);
    if (audienceError !== undefined) {
      throw new LocalError("authorization_failed", `${name} cannot be used: ${audienceError}.`, { data: { issuer } });
    }
    const grantedScope = response.scope === undefined ? {} : { scope: response.scope };
    return { assertion: response.access_token, ...scope, ...grantedScope };
  }

  return machineGrant(client, async (context, asClient, scope) =>
    requestTokens(context, asClient, { grantType: JWT_BEARER, parameters: await exchange(context, scope) }),
  );
}

/** A grant for a client that was registered manually. */
function machineGrant(client: ClientCredential, request: Request): Grant {
  const makeClient = (context: GrantContext): Promise<OAuthClient> => authenticateClient(client, context);
  return {
    isUnattended: true,
    mayChangeIssuer: false,
    client: makeClient,
    async obtain(context, scopes) {
      const response = await request(context, await makeClient(context), scopeParameter(scopes));
      return { response, clientId: client.id };
    },
  };
}

/**
 * Calls an option of the application that returns a credential. Throws `LocalError` `authorization_failed` if it fails or
 * returns nothing.
 */
async function callApplication<T>(option: string, call: () => T | Promise<T>): Promise<T> {
  let credential: T;
  try {
    credential = await call();
  } catch (cause) {
    const why = redact(cause instanceof Error ? cause.message : String(cause));
    throw new LocalError("authorization_failed", `The option ${option} failed: ${why}`, { cause });
  }
  if (credential) return credential;
  throw new LocalError("authorization_failed", `The option ${option} returned an empty credential.`);
}
