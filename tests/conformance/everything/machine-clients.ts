import { clientCredentials, enterpriseManaged, workloadIdentity } from "mcparley/auth";
import type { HttpAuth } from "mcparley/client";

/** The registered clients of the scenarios. Each scenario contains the members that it needs. */
interface Context {
  client_id: string;
  client_secret: string;
  private_key_pem: string;
  signing_algorithm: string;
  valid_jwt: string;
  idp_issuer: string;
  idp_token_endpoint: string;
  idp_client_id: string;
  idp_id_token: string;
}

/** How a client authorizes itself without a person, by scenario. */
const machines: Record<string, (issuer: string, context: Context) => HttpAuth> = {
  "auth/client-credentials-basic": (issuer, context) =>
    clientCredentials({ issuer, client: { id: context.client_id, secret: context.client_secret } }),
  "auth/client-credentials-jwt": (issuer, context) =>
    clientCredentials({
      issuer,
      client: {
        id: context.client_id,
        privateKey: context.private_key_pem,
        algorithm: context.signing_algorithm,
      },
    }),
  "auth/wif-jwt-bearer": (issuer, context) =>
    workloadIdentity({ issuer, client: { id: context.client_id }, assertion: () => context.valid_jwt }),
  "auth/enterprise-managed-authorization": employee,
  "auth/cross-app-access-complete-flow": employee,
};

function employee(issuer: string, context: Context): HttpAuth {
  return enterpriseManaged({
    issuer,
    client: { id: context.client_id, secret: context.client_secret },
    identityProvider: {
      issuer: context.idp_issuer,
      tokenEndpoint: context.idp_token_endpoint,
      client: { id: context.idp_client_id },
    },
    identity: () => context.idp_id_token,
  });
}

/** The authorization for a scenario that has a client of this kind. */
export async function machineFor(scenario: string, url: string, context: unknown): Promise<HttpAuth | undefined> {
  const machine = machines[scenario];
  return machine?.(await issuerOf(url), context as Context);
}

/**
 * The authorization server that the mock server names. Credentials belong to an issuer. The suite does not name it, and runs its issuer at another address each time.
 */
async function issuerOf(url: string): Promise<string> {
  const { origin, pathname } = new URL(url);
  const response = await fetch(`${origin}/.well-known/oauth-protected-resource${pathname}`);
  const { authorization_servers: issuers } = (await response.json()) as { authorization_servers: [string] };
  return issuers[0];
}
