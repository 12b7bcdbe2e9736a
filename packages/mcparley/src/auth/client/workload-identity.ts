import type { ClientCredential } from "../client-authentication.ts";
import type { OAuth } from "./flow.ts";
import { credentialFrom } from "./credential-source.ts";
import { JWT_BEARER } from "./grant-types.ts";
import { type MachineOptions, authorizeMachine } from "./machine-grants.ts";

/** A workload that its platform vouches for. */
export interface WorkloadIdentityOptions extends MachineOptions {
  /**
   * Gives the JWT by which the platform names the workload, made for the authorization server: its `aud` is to be the
   * issuer. Asked for each token, as platforms replace theirs; `tokenFile` of `mcparley/node` reads one from a file.
   */
  assertion: (asked: { issuer: string; resource: string }) => string | Promise<string>;
  /** The client, as it is registered at the issuer; most have neither secret nor key. */
  client: ClientCredential;
}

/**
 * Authorizes a workload by the identity that its platform gives it, such as a Kubernetes service account or a job of a
 * build service: an RFC 7523 assertion is exchanged for a token, and no secret is kept anywhere.
 *
 * An assertion that is refused is neither sent again nor followed by another kind of grant. Calls reject with
 * `LocalError` as those of `clientCredentials` do.
 */
export function workloadIdentity(options: WorkloadIdentityOptions): OAuth {
  const { client, assertion } = options;
  return authorizeMachine(options, {
    kind: "workload_identity",
    client,
    async ask({ at: { issuer, resource }, endpoints }, known, scope) {
      const given = await credentialFrom("The assertion of the workload", () => assertion({ issuer, resource }));
      return endpoints.request(known, JWT_BEARER, { ...scope, assertion: given });
    },
  });
}
