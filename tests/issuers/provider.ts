import { exportJWK, generateKeyPair } from "jose";
import type { ClientMetadata } from "oidc-provider";
import { startAuthorizationServer } from "../auth/authorization-server.ts";
import type { ClientName, Issuer } from "./issuer.ts";

const secret = "secret-of-the-tests-4711-and-longer";
const resourceServer = "notes-server";
const scope = "notes:read notes:write notes:sign";
/** The lifetimes of tokens and sessions in seconds, apart from those of the client `short`. */
const [minute, day] = [60, 86_400];

/** Starts `oidc-provider` in this process, with the clients of the checks. */
export async function startProviderIssuer(): Promise<Issuer & { close(): Promise<void> }> {
  const { privateKey, publicKey } = await generateKeyPair("ES256", { extractable: true });
  const members = { alg: "ES256", kid: "checks", use: "sig" };
  const jwk = { ...(await exportJWK(publicKey)), ...members };
  const key = { ...(await exportJWK(privateKey)), ...members };
  const server = await startAuthorizationServer({
    clients: clientsOf(jwk),
    configuration: {
      ttl: {
        AccessToken: (_, __, client) => (client.clientId === "short" ? 10 : minute),
        ClientCredentials: minute,
        RefreshToken: day,
        IdToken: minute,
        Interaction: minute,
        Session: day,
        Grant: day,
      },
    },
  });
  return {
    name: "oidc-provider",
    url: server.issuer,
    resourceServer: { id: resourceServer, secret },
    addResource(resource, { isOpaque = false } = {}) {
      server.resources.set(resource, { scope, format: isOpaque ? "opaque" : "jwt" });
      return Promise.resolve();
    },
    client: (name) => {
      if (name === "private-key") return { id: name, privateKey: key };
      return name === "confidential" ? { id: name, secret } : { id: name };
    },
    countRenewals(clientId) {
      const renewals = server.tokenRequests.filter((request) => request.get("grant_type") === "refresh_token");
      return Promise.resolve(renewals.filter((request) => request.get("client_id") === clientId).length);
    },
    close: () => server.close(),
  };
}

function clientsOf(publicKey: object): ClientMetadata[] {
  const users: ClientMetadata = {
    client_id: "",
    redirect_uris: ["http://127.0.0.1/callback"],
    application_type: "native",
    grant_types: ["authorization_code", "refresh_token"],
    token_endpoint_auth_method: "none",
  };
  const machine = { grant_types: [...(users.grant_types ?? []), "client_credentials"] };
  const differences: Record<Exclude<ClientName, "no-offline">, Partial<ClientMetadata>> = {
    public: {},
    confidential: { ...machine, client_secret: secret, token_endpoint_auth_method: "client_secret_basic" },
    "private-key": { ...machine, token_endpoint_auth_method: "private_key_jwt", jwks: { keys: [publicKey] } },
    bound: { dpop_bound_access_tokens: true },
    pushed: { require_pushed_authorization_requests: true },
    short: {},
  };
  const server: ClientMetadata = {
    client_id: resourceServer,
    client_secret: secret,
    redirect_uris: [],
    response_types: [],
    grant_types: ["client_credentials"],
  };
  return [server, ...Object.entries(differences).map(([id, members]) => ({ ...users, ...members, client_id: id }))];
}
