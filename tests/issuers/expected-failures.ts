/**
 * The checks that fail at present, by issuer. The run fails if such a check passes, so that a repair removes its name here.
 */
export const expectedFailures: Readonly<Record<string, readonly string[]>> = {
  Keycloak: [],
  "oidc-provider": [],
};
