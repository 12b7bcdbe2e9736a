import type * as oauth from "oauth4webapi";
import { LocalError } from "../../rpc/errors.ts";
import { type ClientCredential, clientAuthentication } from "../client-authentication.ts";
import type { KnownClient } from "./endpoints.ts";

/** What a client and an authorization server agreed on: by registration, or by hand. */
export interface ClientCredentials extends Omit<ClientCredential, "method"> {
  /** `token_endpoint_auth_method`; chosen by what the server offers unless given. */
  readonly method?: string | undefined;
}

/**
 * How a client proves to be itself, by what is agreed or else what the server offers (RFC 8414, 2). Throws `LocalError`
 * `authorization_failed` where it has nothing to do so with, or is to do so in a way that is not known here.
 */
export async function authenticate(
  { method, ...credential }: ClientCredentials,
  metadata: oauth.AuthorizationServer,
): Promise<KnownClient> {
  const { id, secret } = credential;
  const client: oauth.Client = { client_id: id };
  switch (method) {
    case "none":
      return { client, authentication: await clientAuthentication({ id })(metadata) };
    case undefined: {
      // Servers register secrets that they want nobody to send.
      const usable = takesOnlyNone(metadata) ? { id } : credential;
      return { client, authentication: await clientAuthentication(usable)(metadata) };
    }
    case "client_secret_basic":
    case "client_secret_post":
      if (secret !== undefined)
        return { client, authentication: await clientAuthentication({ id, secret, method })(metadata) };
      throw unusable(metadata, `the client ${JSON.stringify(id)} has no secret, which ${method} needs`);
    default:
      throw unusable(
        metadata,
        `clients are to authenticate by ${JSON.stringify(method.slice(0, 100))}, which is not supported`,
      );
  }
}

function takesOnlyNone({ token_endpoint_auth_methods_supported: offered }: oauth.AuthorizationServer): boolean {
  return Array.isArray(offered) && offered.length > 0 && offered.every((method) => method === "none");
}

function unusable({ issuer }: oauth.AuthorizationServer, why: string): LocalError {
  const message = `The authorization server ${JSON.stringify(issuer)} cannot be used: ${why}.`;
  return new LocalError("authorization_failed", message);
}

/** The method to register with: a client on a person's machine keeps no secret from that person. */
export function methodToRegister({
  token_endpoint_auth_methods_supported: offered,
}: oauth.AuthorizationServer): string {
  const known = ["none", "client_secret_basic", "client_secret_post"];
  return known.find((method) => offered?.includes(method)) ?? "none";
}
