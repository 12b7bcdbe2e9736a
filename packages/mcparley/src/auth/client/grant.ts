import type { Clock } from "../../rpc/clock.ts";
import type { CredentialStorage } from "./credential-storage.ts";
import type { Discovered } from "./discovery.ts";
import type { AuthorizationEndpoints, KnownClient, TokenResponse } from "./endpoints.ts";

/** Where and with what a grant works. */
export interface GrantContext {
  readonly at: Discovered;
  readonly endpoints: AuthorizationEndpoints;
  readonly storage: CredentialStorage;
  readonly clock: Clock;
  /** Throws `LocalError` `forbidden_url` for a URL that nobody may be sent to. */
  readonly checkAddress: (this: void, url: URL) => void;
  /** Aborted when nobody waits for the tokens any more. */
  readonly signal: AbortSignal;
}

export interface Obtained {
  response: TokenResponse;
  /** Whom the tokens were given to. */
  clientId: string;
}

/** A way to get tokens from an authorization server when there are none, or none that can be refreshed. */
export interface Grant {
  /** Keeps apart what different grants, and different clients of one grant, have got for the same resource. */
  readonly name: string;
  /** Whether `offline_access` is worth asking for, since a person would have to sign in again without a refresh token. */
  readonly wantsRefreshTokens: boolean;
  /** Whether it asks nobody, so that tokens may be got anew before they run out. */
  readonly isUnattended?: boolean;
  /** The extension of the protocol that it is. */
  readonly extension?: string | undefined;
  /** Gets tokens with these scopes; undefined leaves the choice to the authorization server. */
  obtain(context: GrantContext, scopes: readonly string[] | undefined): Promise<Obtained>;
  /** The client that tokens were given to, to refresh or revoke them. Undefined where it is not known any more. */
  client(context: GrantContext, clientId: string): Promise<KnownClient | undefined>;
  /** Told that an authorization server does not know the client; says whether there will be another one now. */
  forget?(context: GrantContext, clientId: string): Promise<boolean>;
  /** The issuers whose credentials are there already, the best first. */
  preferredIssuers?(): readonly string[];
}
