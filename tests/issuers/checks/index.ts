import type { Check, KeycloakCheck } from "../check.ts";
import { audience } from "./audience.ts";
import { command } from "./command.ts";
import { faults } from "./faults.ts";
import { page } from "./page.ts";
import { peers } from "./peers.ts";
import { registrations } from "./registrations.ts";
import { resourceIndicators } from "./resource-indicators.ts";
import { scopes } from "./scopes.ts";
import { terminal } from "./terminal.ts";
import { usual } from "./usual.ts";

/** The checks of each issuer. */
const allChecks: readonly Check[] = [...usual, ...command, ...terminal, ...peers];
/** All checks of `oidc-provider`. */
export const providerChecks: readonly Check[] = [...allChecks, ...resourceIndicators];
/** All checks of a running Keycloak, without those of other programs. */
export const keycloakChecks: readonly KeycloakCheck[] = [
  ...allChecks,
  ...registrations,
  ...scopes,
  ...audience,
  ...faults,
  ...page,
];
