import type { ClientCredential } from "mcparley/auth";
import type { Keycloak } from "./keycloak/start.ts";
import type { Realm } from "./keycloak/realm.ts";

/** The clients that are registered by hand at each issuer, at the redirect URI `http://127.0.0.1/callback` with any port. */
export type ClientName = "public" | "confidential" | "private-key" | "bound" | "pushed" | "short" | "no-offline";

/** An authorization server that the checks use. */
export interface Issuer {
  readonly name: string;
  /** The issuer identifier. */
  readonly url: string;
  /** Issues tokens with the scopes of the notes for a resource. Opaque tokens are verified by introspection alone. */
  addResource(resource: string, options?: { isOpaque?: boolean }): Promise<void>;
  /** Returns a client that was registered by hand. */
  client(name: ClientName): ClientCredential;
  /** Returns the number of tokens that a client has received for refresh tokens. */
  countRenewals(clientId: string): Promise<number>;
  /** The credentials of the server, for introspection and the exchange of tokens. */
  readonly resourceServer: ClientCredential;
}

/** Keycloak, with the parts that only its checks use. */
export interface KeycloakIssuer extends Issuer {
  readonly keycloak: Keycloak;
  /** The realm of the issuer. */
  readonly realm: Realm;
  /** A realm in which no client can register itself. */
  readonly closed: Realm;
}
