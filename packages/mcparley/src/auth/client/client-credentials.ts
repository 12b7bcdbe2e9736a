import type { HttpAuth } from "../../http/client-settings.ts";
import { type ClientCredential, checkProvable, clientAuthentication } from "../client-credential.ts";
import { type MachineOptions, machineAuth } from "./machine-auth.ts";
import { requestToken } from "./token-request.ts";

export interface ClientCredentialsOptions extends MachineOptions {
  /** The client, as it is registered at the issuer. */
  client: ClientCredential;
}

/**
 * Authorizes a client as itself, by a secret or a private key: for what runs without a person
 * (`io.modelcontextprotocol/oauth-client-credentials`).
 *
 * What it returns is given to `connect`, and may be given to several. It throws `LocalError` `invalid_definition` for a
 * client without a secret or a key. Calls reject with `LocalError` `authorization_failed` where no token is to be had, and
 * with `forbidden_url`, `unreachable` or `timeout` for requests on the way there.
 */
export function clientCredentials(options: ClientCredentialsOptions): HttpAuth {
  const { client } = options;
  checkProvable(client);
  const authentication = clientAuthentication(client);
  const auth = machineAuth(options, async ({ metadata, resource, scope, prover, fetch }) =>
    requestToken({
      metadata,
      clientId: client.id,
      authenticate: await authentication(metadata),
      grant: "client_credentials",
      parameters: { scope, resource },
      prover,
      fetch,
    }),
  );
  return { ...auth, extension: "io.modelcontextprotocol/oauth-client-credentials" };
}
