import type { AuthorizationServer } from "oauth4webapi";
import { clientAuthentication, secretMethods } from "../client-authentication.ts";
import type { ClientCredential } from "../client-credential.ts";
import { StoredValue } from "./credentials.ts";
import type { KnownClient } from "./endpoints.ts";
import type { GrantContext } from "./grant.ts";

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
  { metadata, storage }: { metadata: AuthorizationServer } & Pick<GrantContext, "storage">,
): Promise<KnownClient> {
  const { id, secret, method, privateKey } = credential;
  const client = { client_id: id };
  const isCertain = secret === undefined || method !== undefined || privateKey !== undefined;
  const [first, second] = isCertain ? [] : secretMethods(metadata);
  if (first === undefined || second === undefined) {
    return { client, authentication: await clientAuthentication(credential)(metadata) };
  }
  const accepted = new StoredValue<string>(storage, `client-method:${JSON.stringify([metadata.issuer, id])}`);
  const [preferred, other] = (await accepted.read()) === second ? [second, first] : [first, second];
  const authenticateBy = (name: typeof preferred): Promise<KnownClient["authentication"]> =>
    clientAuthentication({ ...credential, method: name })(metadata);
  return {
    client,
    authentication: await authenticateBy(preferred),
    alternative: {
      authentication: await authenticateBy(other),
      refusedMethod: preferred,
      remember: () => accepted.set(other),
    },
  };
}
