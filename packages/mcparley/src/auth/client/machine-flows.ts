import type { AuthorizationServer } from "oauth4webapi";
import { LocalError } from "../../rpc/errors.ts";
import { redact } from "../../rpc/redact.ts";
import { clientAuthentication } from "../client-authentication.ts";
import type { ClientCredential } from "../client-credential.ts";
import { AuthorizationEndpoints, JWT_BEARER, type KnownClient, type TokenResponse } from "./endpoints.ts";
import type { Grant, GrantContext } from "./grant.ts";
import { makeGuardedFetch } from "./guarded-fetch.ts";
import type { ClientCredentialsOptions, EnterpriseManagedOptions, WorkloadIdentityOptions } from "./machine-grants.ts";
import { discoverIssuer } from "./well-known.ts";

const TOKEN_TYPE = "urn:ietf:params:oauth:token-type:";
const ID_JAG = `${TOKEN_TYPE}id-jag`;

/** Sends the token request of a grant, with the scopes separated by spaces. */
type Request = (context: GrantContext, known: KnownClient, scope: { scope?: string }) => Promise<TokenResponse>;

/** The grant of `clientCredentials` (OAuth 2.1, 4.2). */
export function clientCredentialsGrant({ client }: ClientCredentialsOptions): Grant {
  return machineGrant(client, ({ endpoints }, known, scope) => endpoints.request(known, "client_credentials", scope));
}

/** The grant of `workloadIdentity` (RFC 7523, 2.1). */
export function workloadIdentityGrant({ client, assertion }: WorkloadIdentityOptions): Grant {
  return machineGrant(client, async ({ at: { issuer, resource }, endpoints }, known, scope) => {
    const given = await credentialFrom("The assertion of the workload", () => assertion({ issuer, resource }));
    return endpoints.request(known, JWT_BEARER, { ...scope, assertion: given });
  });
}

/** The grant of `enterpriseManaged`: a token exchange (RFC 8693) at the identity provider, then an assertion grant. */
export function enterpriseManagedGrant(options: EnterpriseManagedOptions): Grant {
  const exchange = identityExchange(options);
  return machineGrant(options.client, async (context, known, scope) =>
    context.endpoints.request(known, JWT_BEARER, await exchange(context, scope)),
  );
}

/** A grant for a client that was registered manually. */
function machineGrant(client: ClientCredential, request: Request): Grant {
  const authentication = clientAuthentication(client);
  const known = async ({ at: { metadata } }: GrantContext): Promise<KnownClient> => ({
    client: { client_id: client.id },
    authentication: await authentication(metadata),
  });
  return {
    wantsRefreshTokens: false,
    isUnattended: true,
    client: known,
    async obtain(context, scopes) {
      const scope = scopes && scopes.length > 0 ? { scope: scopes.join(" ") } : {};
      return { response: await request(context, await known(context), scope), clientId: client.id };
    },
  };
}

type Exchange = (context: GrantContext, scope: { scope?: string }) => Promise<{ assertion: string; scope?: string }>;

/** Returns the function that exchanges the identity of a user for a grant at one authorization server. */
function identityExchange({ identityProvider, identity, fetch: given, clock }: EnterpriseManagedOptions): Exchange {
  const { issuer, tokenEndpoint, client } = identityProvider;
  const authentication = clientAuthentication(client);
  // The application configures the identity provider, so a private address is allowed.
  const fetch = makeGuardedFetch({ allowPrivate: true, fetch: given, clock });
  let found: AuthorizationServer | undefined =
    tokenEndpoint === undefined ? undefined : { issuer, token_endpoint: tokenEndpoint };
  return async ({ at, signal }, scope) => {
    const metadata = (found ??= await discoverIssuer(fetch, issuer, signal));
    const subject = await credentialFrom("The identity assertion of the person", identity);
    const { token, type } = typeof subject === "string" ? { token: subject, type: "id_token" } : subject;
    const place = { issuer, metadata, resourceParameter: at.resourceParameter ?? at.resource };
    const endpoints = new AuthorizationEndpoints({ at: place, fetch, dpop: undefined, signal });
    const known = { client: { client_id: client.id }, authentication: await authentication(metadata) };
    const response = await endpoints.exchange(known, {
      ...scope,
      requested_token_type: ID_JAG,
      audience: at.issuer,
      subject_token: token,
      subject_token_type: TOKEN_TYPE + type,
    });
    if (response.issued_token_type !== ID_JAG) {
      const message = `The identity provider ${JSON.stringify(issuer)} gave another kind of token where a grant (${ID_JAG}) was asked for.`;
      throw new LocalError("authorization_failed", message, { data: { issuer } });
    }
    const granted = response.scope === undefined ? {} : { scope: response.scope };
    return { assertion: response.access_token, ...scope, ...granted };
  };
}

/** Calls a function of the application. Throws `LocalError` `authorization_failed` if it fails or returns nothing. */
async function credentialFrom<T>(what: string, source: () => T | Promise<T>): Promise<T> {
  let given: T;
  try {
    given = await source();
  } catch (cause) {
    const why = redact(cause instanceof Error ? cause.message : String(cause));
    throw new LocalError("authorization_failed", `${what} cannot be had: ${why}`, { cause });
  }
  if (given) return given;
  throw new LocalError("authorization_failed", `${what} is empty.`);
}
