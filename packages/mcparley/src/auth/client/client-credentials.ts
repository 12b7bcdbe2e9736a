import { type ClientCredential, checkProvable } from "../client-authentication.ts";
import type { OAuth } from "./flow.ts";
import { type MachineOptions, authorizeMachine } from "./machine-grants.ts";

export interface ClientCredentialsOptions extends MachineOptions {
  /** The client, as it is registered at the issuer. */
  client: ClientCredential;
}

/**
 * Authorizes a client as itself, by a secret or a private key: for what runs without a person
 * (`io.modelcontextprotocol/oauth-client-credentials`).
 *
 * What it returns is given to `connect`, and may be given to several. It throws `LocalError` `invalid_definition` without
 * an issuer, and for a client without a secret or a key. Calls reject with `LocalError` `authorization_failed` where no
 * token is to be had, and with `forbidden_url`, `unreachable` or `timeout` for requests on the way there.
 */
export function clientCredentials(options: ClientCredentialsOptions): OAuth {
  const { client } = options;
  checkProvable(client);
  return authorizeMachine(options, {
    kind: "client_credentials",
    client,
    extension: "io.modelcontextprotocol/oauth-client-credentials",
    ask: ({ endpoints }, known, scope) => endpoints.request(known, "client_credentials", scope),
  });
}
