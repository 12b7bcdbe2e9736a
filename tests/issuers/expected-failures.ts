/**
 * The checks that fail at present, by issuer. The run fails if such a check passes, so that a repair removes its name here.
 */
export const expectedFailures: Readonly<Record<string, readonly string[]>> = {
  // Some issuers let no public client push a request, so that the refusal of a pushed one does not show that a client is unknown.
  Keycloak: ["login with an unknown --client-id ends before a browser opens"],
  "oidc-provider": [],
};
