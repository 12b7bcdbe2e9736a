import type { Issuer, KeycloakIssuer } from "./issuer.ts";
import type { World } from "./world.ts";

/** A row of the table of issuers. */
export type Feature = string;

/** One behaviour at an issuer. */
export interface Check<I extends Issuer = Issuer> {
  /** States the behaviour. */
  readonly name: string;
  /** The row of the table to which the check belongs. Default: none. */
  readonly feature?: Feature | undefined;
  /** Rejects if the behaviour is wrong. */
  run(world: World<I>): Promise<void>;
}

/** Makes a list of checks, so that each has the type of its issuer. */
export const checksOf = <I extends Issuer>(checks: readonly Check<I>[]): readonly Check<I>[] => checks;

export type KeycloakCheck = Check<KeycloakIssuer>;
