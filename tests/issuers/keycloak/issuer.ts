import { exportJWK, generateKeyPair } from "jose";
import type { ClientName, KeycloakIssuer } from "../issuer.ts";
import { createClosedRealm, createRealm, resourceServer, secret } from "./realm.ts";
import { type Keycloak, startKeycloak } from "./start.ts";

/** Starts Keycloak with the realms of the checks. */
export async function startKeycloakIssuer(distribution: string): Promise<KeycloakIssuer> {
  const keycloak = await startKeycloak(distribution);
  try {
    return await makeRealms(keycloak);
  } catch (error) {
    await keycloak.close();
    throw error;
  }
}

/** Makes the realms of the checks in an empty database. */
export async function makeRealms(keycloak: Keycloak, prefix = ""): Promise<KeycloakIssuer> {
  const { privateKey, publicKey } = await generateKeyPair("ES256", { extractable: true });
  const members = { alg: "ES256", kid: "checks", use: "sig" };
  const jwk = { ...(await exportJWK(publicKey)), ...members };
  const realm = await createRealm(keycloak.origin, `${prefix}checks`, jwk);
  const closed = await createClosedRealm(keycloak.origin, `${prefix}closed`);
  const key = { ...(await exportJWK(privateKey)), ...members };
  return {
    name: "Keycloak",
    url: realm.issuer,
    keycloak,
    realm,
    closed,
    resourceServer: { id: resourceServer, secret },
    countRenewals: (clientId) => realm.countEvents("REFRESH_TOKEN", clientId),
    addResource: (resource) => realm.addAudience(resource),
    client: (name: ClientName) => {
      if (name === "private-key") return { id: name, privateKey: key };
      return name === "confidential" ? { id: name, secret } : { id: name };
    },
  };
}
