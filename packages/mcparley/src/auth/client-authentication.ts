import { importJWK, importPKCS8 } from "jose";
import {
  type AuthorizationServer,
  type ClientAuth,
  ClientSecretPost,
  type CryptoKey,
  None,
  PrivateKeyJwt,
  modifyAssertion,
} from "oauth4webapi";
import { LocalError } from "../rpc/errors.ts";
import type { ClientCredential } from "./client-credential.ts";

/** Returns the function that authenticates requests to the token endpoint of a server. */
export type MakeClientAuth = (metadata: AuthorizationServer) => Promise<ClientAuth>;

/**
 * Prepares the authentication of a client, also of a public one.
 *
 * The returned function rejects with `LocalError` `authorization_failed` if the server supports no method that fits the
 * credential, or if the key cannot be read.
 */
export function clientAuthentication(client: ClientCredential): MakeClientAuth {
  const { secret, method, privateKey } = client;
  if (privateKey !== undefined) {
    let reading: Promise<ClientAuth> | undefined;
    return () => (reading ??= signedAssertion(client, privateKey));
  }
  if (secret === undefined) return async () => None();
  return async (metadata) => {
    const chosen = method ?? secretMethod(metadata);
    return chosen === "client_secret_basic" ? secretBasic(secret) : ClientSecretPost(secret);
  };
}

function secretMethod(metadata: AuthorizationServer): string {
  // The default of a server that lists no methods (RFC 8414, 2).
  const { token_endpoint_auth_methods_supported: said } = metadata;
  const supported = Array.isArray(said) ? said : ["client_secret_basic"];
  const method = supported.find((name) => name === "client_secret_basic" || name === "client_secret_post");
  if (method !== undefined) return method;
  const theirs = JSON.stringify(supported).slice(0, 200);
  const message = `The authorization server ${JSON.stringify(metadata.issuer)} takes no client secret, only ${theirs}.`;
  throw new LocalError("authorization_failed", message);
}

/**
 * HTTP Basic with form-encoded values (RFC 6749, 2.3.1). `URLSearchParams` leaves hyphens unencoded, unlike oauth4webapi:
 * identifiers often contain hyphens, and many servers never decode.
 */
function secretBasic(secret: string): ClientAuth {
  // oxlint-disable-next-line max-params -- the signature is that of oauth4webapi
  return (_metadata, client, _body, headers) => {
    headers.set("authorization", `Basic ${btoa(`${formEncoded(client.client_id)}:${formEncoded(secret)}`)}`);
  };
}

function formEncoded(value: string): string {
  return new URLSearchParams({ "": value }).toString().slice(1);
}

type GivenKey = NonNullable<ClientCredential["privateKey"]>;

async function signedAssertion({ algorithm, keyId }: ClientCredential, privateKey: GivenKey): Promise<ClientAuth> {
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

async function readKey(given: GivenKey, alg: string): Promise<CryptoKey> {
  try {
    if (typeof given === "string") return await importPKCS8(given, alg);
    if ("kty" in given) return (await importJWK({ ...given, alg, key_ops: ["sign"] }, alg)) as CryptoKey;
    return given as CryptoKey;
  } catch {
    // The error of the engine may contain parts of the key, so it is not kept as the cause.
    const message = `The private key cannot be read as one for ${alg}. Give PKCS #8 in PEM (BEGIN PRIVATE KEY) or a JSON Web Key, and its algorithm.`;
    throw new LocalError("authorization_failed", message);
  }
}
