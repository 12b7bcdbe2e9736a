import type { AuthorizationServer } from "oauth4webapi";
import { LocalError } from "../../../rpc/errors.ts";
import { clientAuthentication, secretMethods } from "../../client-authentication.ts";
import type { ClientCredential } from "../../client-credential.ts";
import type { ClientIdentity } from "./client-registrations.ts";
import { StoredValue } from "../credentials.ts";
import type { OAuthClient } from "../endpoints.ts";
import type { GrantContext } from "../grant.ts";

/**
 * Prepares the authentication of a client, by the registered method or else one that the server supports (RFC 8414, 2).
 * Throws `LocalError` `authorization_failed` if the method is unknown here or needs a secret that the client lacks.
 */
export async function authenticate(
  { method, ...credential }: ClientIdentity,
  context: GrantContext,
): Promise<OAuthClient> {
  const { id, secret } = credential;
  const { metadata } = context.discovery;
  context.report(`Client ${JSON.stringify(id)}${method === undefined ? "" : `, ${method}`}`);
  // Some servers issue a secret although they accept only "none".
  const { token_endpoint_auth_methods_supported: methods } = metadata;
  const isPublic = Array.isArray(methods) && methods.length > 0 && methods.every((name) => name === "none");
  if (method === "none" || (method === undefined && isPublic)) return authenticateClient({ id }, context);
  if (method === undefined) return authenticateClient(credential, context);
  if (method !== "client_secret_basic" && method !== "client_secret_post") {
    const name = JSON.stringify(method.slice(0, 100));
    throw unusable(metadata, `the client is registered with the unsupported method ${name}`);
  }
  if (secret !== undefined) return authenticateClient({ id, secret, method }, context);
  throw unusable(metadata, `the client ${JSON.stringify(id)} has no secret, and ${method} requires one`);
}

function unusable({ issuer }: AuthorizationServer, why: string): LocalError {
  const message = `The authorization server ${JSON.stringify(issuer)} cannot be used: ${why}.`;
  return new LocalError("authorization_failed", message);
}

/**
 * Prepares the authentication of a client at an authorization server.
 *
 * The metadata names the methods that the server supports, but not the method of the client. So a client whose credential
 * has no method, and to which two methods apply, has an alternative. The accepted alternative is stored.
 *
 * Rejects with `LocalError` `authorization_failed` as `clientAuthentication` does.
 */
export async function authenticateClient(
  credential: ClientCredential,
  { discovery: { metadata }, storage }: Pick<GrantContext, "discovery" | "storage">,
): Promise<OAuthClient> {
  const { id, secret, method, privateKey } = credential;
  const isConfidential = secret !== undefined || privateKey !== undefined;
  const isCertain = secret === undefined || method !== undefined || privateKey !== undefined;
  const [first, second] = isCertain ? [] : secretMethods(metadata);
  if (first === undefined || second === undefined) {
    return { id, isConfidential, authentication: await clientAuthentication(credential)(metadata) };
  }
  const acceptedMethod = new StoredValue<string>(storage, `client-method:${JSON.stringify([metadata.issuer, id])}`);
  const [preferredMethod, otherMethod] = (await acceptedMethod.read()) === second ? [second, first] : [first, second];
  const authenticateBy = (name: typeof preferredMethod): Promise<OAuthClient["authentication"]> =>
    clientAuthentication({ ...credential, method: name })(metadata);
  return {
    id,
    isConfidential,
    authentication: await authenticateBy(preferredMethod),
    alternative: {
      authentication: await authenticateBy(otherMethod),
      refusedMethod: preferredMethod,
      remember: () => acceptedMethod.set(otherMethod),
    },
  };
}
