import type { CryptoKey } from "oauth4webapi";
import { LocalError } from "../rpc/errors.ts";

// Apart from client-authentication.ts, which loads jose and oauth4webapi: these checks are made when options are read.

/** The identity of a client at an authorization server, and the secret or key that proves it. */
export interface ClientCredential {
  /** The `client_id`. */
  id: string;
  /** Sent only to the token endpoint of the issuer with which the client is registered. */
  secret?: string | undefined;
  /**
   * How the secret is sent. Default: the first of the two that the server's metadata lists. If the server refuses it, the other
   * one is tried once, and is used from then on if it is accepted.
   */
  method?: "client_secret_basic" | "client_secret_post" | undefined;
  /**
   * Signs an assertion instead of sending a secret (`private_key_jwt`, RFC 7523): PKCS #8 in PEM, a JSON Web Key, or a
   * WebCrypto key.
   */
  privateKey?: string | (JsonWebKey & { kid?: string }) | CryptoKey | undefined;
  /** The signature algorithm, such as ES256, RS256 or EdDSA. Default: the `alg` of a JSON Web Key, otherwise ES256. */
  algorithm?: string | undefined;
  /** The `kid` by which the server finds the public key. Default: that of a JSON Web Key. */
  keyId?: string | undefined;
}

/** Throws `LocalError` `invalid_definition` if a client has no id. `name` is the name of the option. */
export function checkClient(client: ClientCredential | undefined, name = "client"): void {
  if (typeof client?.id === "string" && client.id !== "") return;
  throw new LocalError("invalid_definition", `${name}.id is required: the client ID at the authorization server.`);
}

/** Throws `LocalError` `invalid_definition` if a client has neither a secret nor a key. */
export function checkProvable(client: ClientCredential): void {
  checkClient(client);
  const { secret, privateKey } = client;
  if (privateKey !== undefined || (secret !== undefined && secret !== "")) return;
  throw new LocalError(
    "invalid_definition",
    "client.secret or client.privateKey is required to authenticate the client.",
  );
}
