import type * as oauth from "oauth4webapi";
import { LocalError } from "../../jsonrpc/errors.ts";
import type { KnownClient } from "./endpoints.ts";

/** What a client and an authorization server agreed on: by registration, or by hand. */
export interface ClientCredentials {
  readonly id: string;
  readonly secret?: string | undefined;
  /** `token_endpoint_auth_method`; chosen by what the server offers unless given. */
  readonly method?: string | undefined;
}

/** How a client proves to be itself, by what is agreed or else what the server offers (RFC 8414, 2). */
export async function authenticate(
  { id, secret, method }: ClientCredentials,
  metadata: oauth.AuthorizationServer,
): Promise<KnownClient> {
  const { ClientSecretPost, None } = await import("oauth4webapi");
  const client: oauth.Client = { client_id: id };
  const chosen = method ?? (secret === undefined ? "none" : secretMethod(metadata));
  if (chosen === "none") return { client, authentication: None() };
  if (secret === undefined) throw unusable(`the client ${JSON.stringify(id)} has no secret, which ${chosen} needs`);
  if (chosen === "client_secret_basic") return { client, authentication: basic(secret) };
  if (chosen === "client_secret_post") return { client, authentication: ClientSecretPost(secret) };
  throw unusable(`clients are to authenticate by ${JSON.stringify(chosen.slice(0, 100))}, which is not supported`);

  function unusable(why: string): LocalError {
    const message = `The authorization server ${JSON.stringify(metadata.issuer)} cannot be used: ${why}.`;
    return new LocalError("authorization_failed", message);
  }
}

/**
 * HTTP Basic (RFC 6749, 2.3.1). The library would escape `-`, `.` and `_` too, which is allowed and makes no difference to
 * a server that decodes what it gets; there are many that do not.
 */
function basic(secret: string): oauth.ClientAuth {
  return (_, { client_id: id }, __, headers) => {
    headers.set("authorization", `Basic ${btoa(`${formEncode(id)}:${formEncode(secret)}`)}`);
  };
}

function formEncode(text: string): string {
  return new URLSearchParams([["", text]]).toString().slice(1);
}

/** What the default is where a server does not say (RFC 8414, 2), and the body where that is all it takes. */
function secretMethod({ token_endpoint_auth_methods_supported: offered }: oauth.AuthorizationServer): string {
  const takesBasic = offered === undefined || offered.includes("client_secret_basic");
  return takesBasic || !offered.includes("client_secret_post") ? "client_secret_basic" : "client_secret_post";
}

/** The method to register with: a client on a person's machine keeps no secret from that person. */
export function methodToRegister({
  token_endpoint_auth_methods_supported: offered,
}: oauth.AuthorizationServer): string {
  const known = ["none", "client_secret_basic", "client_secret_post"];
  return known.find((method) => offered?.includes(method)) ?? "none";
}
