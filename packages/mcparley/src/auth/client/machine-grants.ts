import { LocalError } from "../../rpc/errors.ts";
import { type ClientCredential, checkClient, checkProvable } from "../client-credential.ts";
import { authorize } from "./oauth.ts";
import type {
  ClientCredentialsOptions,
  EnterpriseManagedOptions,
  MachineOptions,
  OAuth,
  WorkloadIdentityOptions,
} from "./options.ts";

/**
 * Authorizes a client as itself, by a secret or a private key, for programs without a user
 * (`io.modelcontextprotocol/oauth-client-credentials`).
 *
 * Pass the result to `connect` as `auth`; several connections may share it. Throws `LocalError` `invalid_definition`
 * without an issuer, and for a client without a secret or a key. Calls reject with `LocalError` `authorization_failed` if
 * no token is issued, and with `forbidden_url`, `unreachable` or `timeout` if a request on the way fails.
 *
 * @example
 * ```ts
 * import { clientCredentials } from "mcparley/auth";
 * import { connect } from "mcparley/client";
 *
 * const auth = clientCredentials({
 *   issuer: "https://auth.example.com",
 *   client: { id: "nightly-report", secret: process.env.CLIENT_SECRET },
 * });
 * const client = await connect("https://example.com/mcp", { auth });
 * ```
 */
export function clientCredentials(options: ClientCredentialsOptions): OAuth {
  checkProvable(options.client);
  checkMachine(options);
  return authorize(options, {
    name: `client_credentials ${options.client.id}`,
    extension: "io.modelcontextprotocol/oauth-client-credentials",
    makeGrant: (flow) => flow.clientCredentialsGrant(options),
  });
}

/**
 * Authorizes a workload by the identity that its platform issues, such as a Kubernetes service account or a build job. An
 * RFC 7523 assertion is exchanged for a token, so that no secret is stored.
 *
 * A refused assertion is neither sent again nor followed by another grant. Calls reject with the same `LocalError`s as
 * with `clientCredentials`.
 *
 * @example
 * ```ts
 * import { workloadIdentity } from "mcparley/auth";
 * import { connect } from "mcparley/client";
 * import { tokenFile } from "mcparley/node";
 *
 * const auth = workloadIdentity({
 *   issuer: "https://auth.example.com",
 *   client: { id: "nightly-report" },
 *   assertion: tokenFile("/var/run/secrets/tokens/mcp"),
 * });
 * const client = await connect("https://example.com/mcp", { auth });
 * ```
 */
export function workloadIdentity(options: WorkloadIdentityOptions): OAuth {
  checkMachine(options);
  return authorize(options, {
    name: `workload_identity ${options.client.id}`,
    makeGrant: (flow) => flow.workloadIdentityGrant(options),
  });
}

/**
 * Authorizes a user by the sign-in with their organization
 * (`io.modelcontextprotocol/enterprise-managed-authorization`). The identity provider issues a grant for the server if the
 * organization allows it, and the server's authorization server exchanges it for a token, without asking the user.
 *
 * Both requests are sent for each token. Calls reject with the same `LocalError`s as with `clientCredentials`. If the
 * identity provider refuses, `data.issuer` of the error is its issuer.
 *
 * @example
 * ```ts
 * import { enterpriseManaged } from "mcparley/auth";
 * import { connect } from "mcparley/client";
 *
 * declare const session: { idToken: string }; // from the user's sign-in with the organization
 *
 * const auth = enterpriseManaged({
 *   issuer: "https://auth.example.com",
 *   client: { id: "assistant", secret: process.env.CLIENT_SECRET },
 *   identityProvider: {
 *     issuer: "https://idp.example.org",
 *     client: { id: "assistant", secret: process.env.IDP_SECRET },
 *   },
 *   identity: () => session.idToken,
 * });
 * const client = await connect("https://example.com/mcp", { auth });
 * ```
 */
export function enterpriseManaged(options: EnterpriseManagedOptions): OAuth {
  // Callers without TypeScript may omit it.
  const { identityProvider }: Partial<EnterpriseManagedOptions> = options;
  checkClient(identityProvider?.client, "identityProvider.client");
  checkMachine(options);
  return authorize(options, {
    name: `enterprise_managed ${options.client.id}`,
    extension: "io.modelcontextprotocol/enterprise-managed-authorization",
    makeGrant: (flow) => flow.enterpriseManagedGrant(options),
  });
}

/** Throws `LocalError` `invalid_definition` without an issuer or a client. */
function checkMachine({ client, issuer }: MachineOptions & { client: ClientCredential }): void {
  checkClient(client);
  if (typeof issuer === "string" && URL.canParse(issuer)) return;
  const message = "issuer is required: the URL of the authorization server with which the client is registered.";
  throw new LocalError("invalid_definition", message);
}
