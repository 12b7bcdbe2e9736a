import type { AuthorizationServer } from "oauth4webapi";
import type { HttpAuth } from "../../http/client-settings.ts";
import { LocalError } from "../../jsonrpc/errors.ts";
import { type ClientCredential, clientAuthentication } from "../client-credential.ts";
import { discoverIssuer } from "./authorization-server.ts";
import { credentialFrom } from "./credential-source.ts";
import { makeGuardedFetch } from "./guarded-fetch.ts";
import { type GrantRequest, type MachineOptions, machineAuth } from "./machine-auth.ts";
import { JWT_BEARER, requestToken } from "./token-request.ts";

const TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange";
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
  /** Gives the identity assertion of the person who uses the client; a text is an ID token. Asked for each token. */
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
export function enterpriseManaged(options: EnterpriseManagedOptions): HttpAuth {
  const { client } = options;
  const authentication = clientAuthentication(client);
  const grantOf = identityGrants(options);
  const auth = machineAuth(options, async (request) => {
    const { metadata, resource, prover, fetch } = request;
    const { assertion, scope } = await grantOf(request);
    return requestToken({
      metadata,
      clientId: client.id,
      authenticate: await authentication(metadata),
      grant: JWT_BEARER,
      parameters: { assertion, scope, resource },
      prover,
      fetch,
    });
  });
  return { ...auth, extension: "io.modelcontextprotocol/enterprise-managed-authorization" };
}

type GrantOf = (request: GrantRequest) => Promise<{ assertion: string; scope: string | undefined }>;

/** Makes what exchanges a person's identity for a grant at one authorization server (RFC 8693). */
function identityGrants({ identityProvider, identity, fetch: given, clock }: EnterpriseManagedOptions): GrantOf {
  const { issuer, tokenEndpoint, client } = identityProvider;
  const authentication = clientAuthentication(client);
  // It is the user who names it, so that it may well be inside.
  const fetch = makeGuardedFetch({ allowPrivate: true, fetch: given, clock });
  let found: AuthorizationServer | undefined =
    tokenEndpoint === undefined ? undefined : { issuer, token_endpoint: tokenEndpoint };
  return async ({ metadata: { issuer: audience }, resource, scope }) => {
    const metadata = (found ??= await discoverIssuer(fetch, issuer));
    const subject = await credentialFrom("The identity assertion of the person", identity);
    const { token, type } = typeof subject === "string" ? { token: subject, type: "id_token" } : subject;
    const response = await requestToken({
      metadata,
      clientId: client.id,
      authenticate: await authentication(metadata),
      grant: TOKEN_EXCHANGE,
      parameters: {
        requested_token_type: ID_JAG,
        audience,
        resource,
        scope,
        subject_token: token,
        subject_token_type: TOKEN_TYPE + type,
      },
      tokenTypes: ["n_a"],
      fetch,
    });
    if (response.issued_token_type === ID_JAG)
      return { assertion: response.access_token, scope: response.scope ?? scope };
    const message = `The identity provider ${issuer} gave another kind of token where a grant (${ID_JAG}) was asked for.`;
    throw new LocalError("authorization_failed", message, { data: { issuer } });
  };
}
