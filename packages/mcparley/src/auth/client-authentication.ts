import type { AuthorizationServer, ClientAuth, CryptoKey } from "oauth4webapi";
import { LocalError } from "../rpc/errors.ts";

/** A client as an authorization server knows it, and what it proves itself with: a secret, or a key. */
export interface ClientCredential {
  /** The `client_id`. */
  id: string;
  /** Sent to the token endpoint of the issuer that the client is registered at, and nowhere else. */
  secret?: string | undefined;
  /** How the secret is sent. As the server's metadata names first of the two unless given. */
  method?: "client_secret_basic" | "client_secret_post" | undefined;
  /**
   * Signs an assertion instead of sending a secret (`private_key_jwt`, RFC 7523): PKCS #8 in PEM, a JSON Web Key, or a
   * key that WebCrypto has already.
   */
  privateKey?: string | (JsonWebKey & { kid?: string }) | CryptoKey | undefined;
  /** What the key signs with, such as ES256, RS256 or EdDSA. The `alg` of a JSON Web Key, otherwise ES256, unless given. */
  algorithm?: string | undefined;
  /** The `kid` by which the server finds the public key. That of a JSON Web Key unless given. */
  keyId?: string | undefined;
}

/** Throws `LocalError` `invalid_definition` for a client without an id; `name` is that of the option. */
export function checkClient(client: ClientCredential | undefined, name = "client"): void {
  if (typeof client?.id === "string" && client.id !== "") return;
  throw invalid(`${name}.id is required: what the client is registered as.`);
}

/** Throws `LocalError` `invalid_definition` for a client that cannot prove who it is. */
export function checkProvable(client: ClientCredential): void {
  checkClient(client);
  const { secret, privateKey } = client;
  if (privateKey !== undefined || (secret !== undefined && secret !== "")) return;
  throw invalid("client.secret or client.privateKey is required: who asks has to prove who it is.");
}

function invalid(message: string): LocalError {
  return new LocalError("invalid_definition", message);
}

/** Makes what authenticates requests to a token endpoint. */
export type MakeClientAuth = (metadata: AuthorizationServer) => Promise<ClientAuth>;

/**
 * Reads a credential, that of a public client as well. What it returns rejects with `LocalError` `authorization_failed`
 * where server and credential do not fit, and for a key that cannot be read.
 */
export function clientAuthentication(client: ClientCredential): MakeClientAuth {
  const { secret, method, privateKey } = client;
  if (privateKey !== undefined) {
    let reading: Promise<ClientAuth> | undefined;
    return () => (reading ??= signedAssertion(client, privateKey));
  }
  if (secret === undefined) return async () => (await import("oauth4webapi")).None();
  return async (metadata) => {
    const chosen = method ?? secretMethod(metadata);
    if (chosen === "client_secret_basic") return secretBasic(secret);
    return (await import("oauth4webapi")).ClientSecretPost(secret);
  };
}

function secretMethod(metadata: AuthorizationServer): string {
  // What a server takes that does not say (RFC 8414, 2).
  const { token_endpoint_auth_methods_supported: said } = metadata;
  const supported = Array.isArray(said) ? said : ["client_secret_basic"];
  const method = supported.find((name) => name === "client_secret_basic" || name === "client_secret_post");
  if (method !== undefined) return method;
  const theirs = JSON.stringify(supported).slice(0, 200);
  const message = `The authorization server ${JSON.stringify(metadata.issuer)} takes no client secret, only ${theirs}.`;
  throw new LocalError("authorization_failed", message);
}

/**
 * HTTP Basic with the two values encoded as forms are (RFC 6749, 2.3.1), which leaves alone what needs no encoding: many
 * servers never decode them, and identifiers are full of hyphens.
 */
function secretBasic(secret: string): ClientAuth {
  return (_metadata, client, _body, headers) => {
    headers.set("authorization", `Basic ${btoa(`${formEncoded(client.client_id)}:${formEncoded(secret)}`)}`);
  };
}

function formEncoded(value: string): string {
  return new URLSearchParams({ "": value }).toString().slice(1);
}

type GivenKey = NonNullable<ClientCredential["privateKey"]>;

async function signedAssertion({ algorithm, keyId }: ClientCredential, privateKey: GivenKey): Promise<ClientAuth> {
  const { PrivateKeyJwt, modifyAssertion } = await import("oauth4webapi");
  const jwk = typeof privateKey === "object" && "kty" in privateKey ? privateKey : undefined;
  const alg = algorithm ?? jwk?.alg;
  const key = await readKey(privateKey, alg ?? "ES256");
  const kid = keyId ?? jwk?.kid;
  return PrivateKeyJwt(kid === undefined ? key : { key, kid }, {
    [modifyAssertion](header: Record<string, unknown>) {
      // Of the two names of Ed25519 most servers know the older one.
      if (alg === "EdDSA") header.alg = alg;
    },
  });
}

async function readKey(given: GivenKey, alg: string): Promise<CryptoKey> {
  const { importJWK, importPKCS8 } = await import("jose");
  try {
    if (typeof given === "string") return await importPKCS8(given, alg);
    if ("kty" in given) return (await importJWK({ ...given, alg, key_ops: ["sign"] }, alg)) as CryptoKey;
    return given as CryptoKey;
  } catch {
    // What the engine says of it may show parts of the key.
    const message = `The private key cannot be read as one for ${alg}. Give PKCS #8 in PEM (BEGIN PRIVATE KEY) or a JSON Web Key, and its algorithm.`;
    throw new LocalError("authorization_failed", message);
  }
}
