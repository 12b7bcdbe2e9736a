import { importJWK, importPKCS8 } from "jose";
import {
  type AuthorizationServer,
  type Client,
  type ClientAuth,
  ClientSecretPost,
  type CryptoKey,
  None,
  PrivateKeyJwt,
  modifyAssertion,
} from "oauth4webapi";
import { LocalError } from "../rpc/errors.ts";
import type { ClientCredential } from "./client-credential.ts";

/** Returns the function that authenticates requests to an endpoint of a server. */
type MakeClientAuth = (metadata: AuthorizationServer) => Promise<ClientAuth>;

/** The arguments with which oauth4webapi sends a request as a client. */
export type AsClient = readonly [server: AuthorizationServer, client: Client, authentication: ClientAuth];

/** An endpoint at which clients authenticate, and whose methods a server can list. */
export type AuthenticatedEndpoint = "token_endpoint" | "introspection_endpoint";

/**
 * Prepares the authentication of a client, also of a public one, at an endpoint.
 *
 * The returned function rejects with `LocalError` `authorization_failed` if the server supports no method that fits the
 * credential, or if the key cannot be read.
 */
export function clientAuthentication(
  client: ClientCredential,
  endpoint: AuthenticatedEndpoint = "token_endpoint",
): MakeClientAuth {
  const { secret, method, privateKey } = client;
  if (privateKey !== undefined) {
    let authentication: Promise<ClientAuth> | undefined;
    return () => (authentication ??= signedAssertion(client, privateKey));
  }
  if (secret === undefined) return async () => None();
  return async (metadata) => {
    const secretMethod = method ?? secretMethods(metadata, endpoint)[0];
    return secretMethod === "client_secret_basic" ? secretBasic(secret) : ClientSecretPost(secret);
  };
}

/** A method that sends a secret. */
export type SecretMethod = NonNullable<ClientCredential["method"]>;

/**
 * Returns the methods for a secret that a server supports at an endpoint, in the order of its metadata. Throws `LocalError`
 * `authorization_failed` if it supports none.
 *
 * The methods of the token endpoint are the default for other endpoints, and "client_secret_basic" is its own (RFC 8414, 2).
 */
export function secretMethods(
  metadata: AuthorizationServer,
  endpoint: AuthenticatedEndpoint = "token_endpoint",
): readonly [SecretMethod, ...SecretMethod[]] {
  const listedMethods =
    metadata[`${endpoint}_auth_methods_supported`] ?? metadata.token_endpoint_auth_methods_supported;
  const supportedMethods: readonly string[] = Array.isArray(listedMethods) ? listedMethods : ["client_secret_basic"];
  const [method, ...otherMethods] = supportedMethods.filter(
    (name) => name === "client_secret_basic" || name === "client_secret_post",
  );
  if (method !== undefined) return [method, ...otherMethods];
  const methods = JSON.stringify(supportedMethods).slice(0, 200);
  const message = `The authorization server ${JSON.stringify(metadata.issuer)} accepts no client secret, only ${methods}.`;
  throw new LocalError("authorization_failed", message);
}

/**
 * HTTP Basic with form-encoded values (RFC 6749, 2.3.1). `URLSearchParams` leaves hyphens unencoded, unlike oauth4webapi:
 * identifiers often contain hyphens, and many servers never decode. The body contains `client_id` too, because many servers,
 * such as those of the Python SDK, find the client by it before they read the header.
 */
function secretBasic(secret: string): ClientAuth {
  // oxlint-disable-next-line max-params -- the signature is that of oauth4webapi
  return (_metadata, client, body, headers) => {
    body.set("client_id", client.client_id);
    headers.set("authorization", `Basic ${btoa(`${formEncoded(client.client_id)}:${formEncoded(secret)}`)}`);
  };
}

function formEncoded(value: string): string {
  return new URLSearchParams({ "": value }).toString().slice(1);
}

type PrivateKey = NonNullable<ClientCredential["privateKey"]>;

async function signedAssertion({ algorithm, keyId }: ClientCredential, privateKey: PrivateKey): Promise<ClientAuth> {
  const jwk = typeof privateKey === "object" && "kty" in privateKey ? privateKey : undefined;
  const alg = algorithm ?? jwk?.alg;
  const key = await readKey(privateKey, alg ?? "ES256");
  const kid = keyId ?? jwk?.kid;
  return PrivateKeyJwt(kid === undefined ? key : { key, kid }, {
    [modifyAssertion](header: Record<string, unknown>) {
      // Ed25519 has two names, and most servers know only the older one.
      if (alg === "EdDSA") header.alg = alg;
    },
  });
}

async function readKey(key: PrivateKey, alg: string): Promise<CryptoKey> {
  try {
    if (typeof key === "string") return await importPKCS8(key, alg);
    // Only symmetric keys are imported as bytes, and no algorithm of an assertion is symmetric.
    if ("kty" in key) return (await importJWK({ ...key, alg, key_ops: ["sign"] }, alg)) as CryptoKey;
    return key as CryptoKey;
  } catch {
    // The error of the engine may contain parts of the key, so it is not kept as the cause.
    const message = `The private key cannot be read as a key for ${alg}. It must be PKCS #8 in PEM (BEGIN PRIVATE KEY) or a JSON Web Key, and match the option \`algorithm\`.`;
    throw new LocalError("authorization_failed", message);
  }
}
