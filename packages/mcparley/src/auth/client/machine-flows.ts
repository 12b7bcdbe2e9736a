import type { AuthorizationServer } from "oauth4webapi";
import { LocalError } from "../../rpc/errors.ts";
import { type ClientCredential, checkClient, clientAuthentication } from "../client-authentication.ts";
import type { OAuth } from "./flow.ts";
import { discoverIssuer } from "./well-known.ts";
import { credentialFrom } from "./credential-source.ts";
import { AuthorizationEndpoints } from "./endpoints.ts";
import type { GrantContext } from "./grant.ts";
import { JWT_BEARER } from "./grant-types.ts";
import { makeGuardedFetch } from "./guarded-fetch.ts";
import { type MachineOptions, authorizeMachine } from "./machine-grants.ts";

const TOKEN_TYPE = "urn:ietf:params:oauth:token-type:";
const ID_JAG = `${TOKEN_TYPE}id-jag`;

/** The identity provider of an organization. */
export interface IdentityProvider {
  issuer: string;
  /** What its metadata says unless given. */
  tokenEndpoint?: string;
  /** The client, as it is registered there. */
  client: ClientCredential;
}

/** That a person has signed in to the client by the identity provider. */
export interface IdentityAssertion {
  token: string;
  /** `id_token` of OpenID Connect, or `saml2`. */
  type: "id_token" | "saml2";
}

/** A client of an organization, whose identity provider decides on who may use which server. */
export interface EnterpriseManagedOptions extends MachineOptions {
  /** The client, as it is registered at the issuer. */
  client: ClientCredential;
  identityProvider: IdentityProvider;
  /**
   * Gives the identity assertion of the person who uses the client; a text is an ID token. Asked for each token.
   *
   * It is always that of the same person: tokens are kept and shown without asking whose they are. Others have an
   * authorization of their own, and a `storage` of their own where there is one.
   */
  identity: () => string | IdentityAssertion | Promise<string | IdentityAssertion>;
}

/**
 * Authorizes a person by the sign-in that they have had with their organization
 * (`io.modelcontextprotocol/enterprise-managed-authorization`): the identity provider gives a grant for the server where
 * the organization allows that, and the server's authorization server gives a token for it. The person is asked nothing.
 *
 * The two requests are made anew for each token. Calls reject with `LocalError` as those of `clientCredentials` do; where
 * the identity provider refuses, its issuer is the `data.issuer` of the error.
 */
export function enterpriseManaged(options: EnterpriseManagedOptions): OAuth {
  const { identityProvider } = options as Partial<EnterpriseManagedOptions>;
  checkClient(identityProvider?.client, "identityProvider.client");
  const exchange = identityExchange(options);
  return authorizeMachine(options, {
    kind: "enterprise_managed",
    client: options.client,
    extension: "io.modelcontextprotocol/enterprise-managed-authorization",
    ask: async (context, known, scope) => context.endpoints.request(known, JWT_BEARER, await exchange(context, scope)),
  });
}

type Exchange = (context: GrantContext, scope: { scope?: string }) => Promise<{ assertion: string; scope?: string }>;

/** Makes what exchanges the identity of a person for a grant at one authorization server (RFC 8693). */
function identityExchange({ identityProvider, identity, fetch: given, clock }: EnterpriseManagedOptions): Exchange {
  const { issuer, tokenEndpoint, client } = identityProvider;
  const authentication = clientAuthentication(client);
  // It is the user who names it, so that it may well be inside.
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
    const asked = {
      ...scope,
      requested_token_type: ID_JAG,
      audience: at.issuer,
      subject_token: token,
      subject_token_type: TOKEN_TYPE + type,
    };
    const response = await endpoints.exchange(known, asked);
    if (response.issued_token_type !== ID_JAG) throw notAGrant(issuer);
    return {
      assertion: response.access_token,
      ...scope,
      ...(response.scope !== undefined && { scope: response.scope }),
    };
  };
}

function notAGrant(issuer: string): LocalError {
  const message = `The identity provider ${JSON.stringify(issuer)} gave another kind of token where a grant (${ID_JAG}) was asked for.`;
  return new LocalError("authorization_failed", message, { data: { issuer } });
}
